a
fi
b
