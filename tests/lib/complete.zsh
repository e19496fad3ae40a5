# SPDX-License-Identifier: BSD-3-Clause
# What zsh makes of lines when Tab is pressed: zsh -f complete.zsh FOLDER <LINES. FOLDER holds the
# completion as it is installed; each line is printed as it is afterwards.

zmodload zsh/zpty || exit 1

zpty -b shell "TERM=dumb PS1= PS2= zsh -f -i"
zpty -w shell "stty -echo; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; unsetopt zle_bracketed_paste"
zpty -w shell "LISTMAX=-1; setopt no_always_last_prompt"
zpty -w shell 'show() { print -r -- "<line>$BUFFER</line>"; BUFFER=; zle redisplay }; zle -N show; bindkey "^X" show; bindkey "^I" complete-word'
zpty -w shell 'print "<ready>"'

# Reads until the shell has said a pattern, or for 20 s; what it said is in $said.
hear() {
	local part
	said=
	SECONDS=0
	until [[ $said == *$~1* ]]; do
		zpty -t shell && zpty -r shell part && said+=$part || read -t 0.05 -u 9 2>/dev/null
		(( SECONDS < 20 )) || { print "no answer: $said"; exit 1 }
	done
}

# Something that never has anything to read: to wait without a program.
exec 9<> <(:)
hear '<ready>'
while IFS= read -r line; do
	zpty -w -n shell "$line"$'\t\x18'
	hear '<line>*</line>'
	said=${said##*<line>}
	print -r -- "${said%%</line>*}"
done
zpty -d shell
