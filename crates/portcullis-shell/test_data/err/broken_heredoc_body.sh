cat <<E
$(a
E
b
