! time -p a | b |& c
