#compdef sluice
# SPDX-License-Identifier: BSD-3-Clause
# Completion for zsh. The program itself says what a word may become: `sluice complete WORD...`.

_sluice() {
	local program=${~${(Q)words[1]}} line word
	local -a whole open asked
	asked=("${(@Q)words[2,CURRENT]}")

	for line in "${(@f)$("$program" complete "$asked[@]" 2>/dev/null)}"; do
		case $line in
		'') ;;
		:files)
			_files
			;;
		:files\ *)
			_files -g "*.(${${line#:files }// /|})(-.)"
			;;
		:folders)
			_files -/
			;;
		*)
			word=${line%%$'\t'*}
			line=${word//:/\\:}:${line#*$'\t'}
			if [[ $word == *= ]]; then
				open+=("$line")
			else
				whole+=("$line")
			fi
			;;
		esac
	done
	(( $#whole )) && _describe -t words word whole
	(( $#open )) && _describe -t words word open -S ''
}

_sluice "$@"
