import { blueprintProblems } from './blueprint-problems.ts'
import { type Command, readWords } from './command.ts'
import { readBlueprintFile } from './read-blueprint-file.ts'

export const check: Command = {
  usage: 'check <file>',
  summary: 'Tells whether a blueprint file can run, and everything that keeps it from running.',
  help: `Prints one line for each problem, with the block and the pin, and exits with 1 if there is any. Warnings are printed too
and keep nothing from running.
Nothing is stored, no server is needed: made for editors, hooks and build pipelines.`,
  async run(words, terminal) {
    const [file = ''] = readWords(words, {}, { least: 1, most: 1 }).positionals
    const { problems, warnings } = await blueprintProblems(await readBlueprintFile(file))
    for (const warning of warnings) terminal.complain(`${file}: warning: ${warning}`)
    for (const problem of problems) terminal.complain(`${file}: ${problem}`)
    if (problems.length > 0) return 1
    terminal.print(`${file} can run.`)
    return 0
  },
}
