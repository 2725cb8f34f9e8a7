# first
a # second
b#c

