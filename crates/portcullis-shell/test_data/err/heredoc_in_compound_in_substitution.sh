x=$(while a; do b <<E; done
E
); c
