ls !(a|b)
