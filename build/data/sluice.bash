# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash. Commands, options, modules and drivers are asked of the program itself.

_sluice() {
	local cur prev words cword
	_init_completion || return
	local program=${words[0]} command=${words[1]-}

	if [ "$cword" = 1 ]; then
		COMPREPLY=($(compgen -W "$("$program" --help 2>/dev/null |
			sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p') --help --version" -- "$cur"))
		return
	fi
	case $prev in
	--module)
		_filedir so
		return
		;;
	--format)
		COMPREPLY=($(compgen -W "text dot svg yaml json markdown" -- "$cur"))
		return
		;;
	--set)
		# The names of the file's vars, when a file is on the line already.
		local word
		for word in "${words[@]:2}"; do
			[ -f "$word" ] && COMPREPLY=($(compgen -S = -W "$(sed -nE \
				'/^vars:/,/^[^ #v]/s/^  ([A-Za-z_][A-Za-z0-9_]*):.*/\1/p' "$word")" \
				-- "$cur"))
		done
		compopt -o nospace
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$("$program" "$command" --help 2>/dev/null |
			grep -oE -- '--[a-z][a-z-]*')" -- "$cur"))
		return
	fi
	case $command in
	modules | drivers)
		COMPREPLY=($(compgen -W "$("$program" "$command" 2>/dev/null |
			sed -nE 's/^([A-Za-z][A-Za-z0-9_]*) .*/\1/p')" -- "$cur"))
		;;
	run | check | show | test)
		_filedir '@(yaml|yml|lua)'
		;;
	esac
}
complete -F _sluice sluice
