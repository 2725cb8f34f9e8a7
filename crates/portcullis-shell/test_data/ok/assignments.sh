A=1 B+=two c[$(i)]=x d=(a $(b) [k]=v) run
