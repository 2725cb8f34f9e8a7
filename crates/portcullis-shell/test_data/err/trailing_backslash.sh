a b\
