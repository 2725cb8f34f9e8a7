ls *.rs a?b [a-z]* [ x[1] "*" \* 
