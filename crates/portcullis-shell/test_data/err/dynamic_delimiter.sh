cat <<$x
a
$x
