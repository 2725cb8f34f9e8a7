echo $(( $(cat <<E
1
E
) ))
