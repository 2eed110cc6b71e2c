import { type Command, command } from '../command.ts'
import { UsageError } from '../read-words.ts'
import { bashCompletion, fishCompletion, placesOf, zshCompletion } from './shells.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const
const names = Object.keys(shells)

/** Prints the completion of these commands and of itself. */
export function completion(others: readonly Command[]): Command {
  const self: Command = command({
    name: 'completion',
    operands: [{ name: '<shell>', completes: names }],
    flags: {},
    summary: 'Prints a script that lets bash, zsh or fish complete quoin commands.',
    about: `bash: add to ~/.bashrc            source <(quoin completion bash)
zsh:  add to ~/.zshrc             source <(quoin completion zsh)
fish: run once                    quoin completion fish > ~/.config/fish/completions/quoin.fish`,
    async run({ positionals: [shell = ''] }, terminal) {
      const script = Object.entries(shells).find(([name]) => name === shell)?.[1]
      if (!script)
        throw new UsageError(
          `There is no completion for ${JSON.stringify(shell)}; choose one of: ${names.join(', ')}.`,
        )
      terminal.print(script(placesOf([...others, self])))
      return 0
    },
  })
  return self
}
