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
	--name)
		[ "$command" = run ] || COMPREPLY=($(compgen -W "$("$program" ps 2>/dev/null |
			sed -nE '1!s/^([^ ]+) .*/\1/p')" -- "$cur"))
		return
		;;
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
	stats | call)
		# What the instance that runs has: its nodes, their commands and the arguments of those.
		local list=$("$program" call --json 2>/dev/null) filter
		case $command:$((cword - 1)) in
		stats:1)
			list=$("$program" stats --json 2>/dev/null)
			filter='.nodes | keys[]'
			;;
		call:1) filter='keys[]' ;;
		call:2) filter='.[$node][].name' ;;
		call:*)
			filter='.[$node][] | select(.name == $command).arguments[].name + "="'
			compopt -o nospace
			;;
		*) return ;;
		esac
		COMPREPLY=($(compgen -W "$(jq -r --arg node "${words[2]-}" --arg command \
			"${words[3]-}" "$filter" <<<"$list" 2>/dev/null)" -- "$cur"))
		;;
	run | check | show | test | diff | reload)
		_filedir '@(yaml|yml|lua)'
		;;
	esac
}
complete -F _sluice sluice
