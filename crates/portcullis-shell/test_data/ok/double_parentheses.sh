((a) || (b)); echo $((c); (d))
