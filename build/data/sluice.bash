# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash. The program itself says what a word may become: `sluice complete WORD...`.

_sluice() {
	local cur prev words cword line rest=yes
	_init_completion -n =: || return

	while IFS= read -r line; do
		case $line in
		:files)
			_filedir
			;;
		:files\ *)
			line=${line#:files }
			_filedir "@(${line// /|})"
			;;
		:folders)
			_filedir -d
			;;
		*)
			line=${line%%$'\t'*}
			COMPREPLY+=("$line")
			[[ $line != *= ]] || rest=no
			;;
		esac
	done < <("${words[0]}" complete "${words[@]:1:cword}" 2>/dev/null)
	[ $rest = yes ] || compopt -o nospace
	# For bash a word ends at these; what stands before is not its to complete.
	if [[ $cur == *[=:]* && $COMP_WORDBREAKS == *=* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[=:]}"}"}")
	fi
}
complete -F _sluice sluice
