cat <<A <<-'B' | c
one $(d) \$x
A
	two $(not)
	B
e
