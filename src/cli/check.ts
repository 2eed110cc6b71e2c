import { command } from './command.ts'
import { readBlueprintFile } from './read-blueprint-file.ts'

export const check = command({
  name: 'check',
  operands: [{ name: '<file>', completes: 'file' }],
  flags: {},
  summary: 'Checks whether a blueprint file can run, and prints every problem.',
  about: `Prints one line for each problem, with the block and the pin, and exits with 1 if there is any. Warnings are printed
too; a blueprint with warnings can run. Fields, rules, storages and groups of the file
are checked as an import checks them. Nothing is stored and no server is needed: for editors, hooks and build pipelines.`,
  async run({ positionals: [file = ''] }, terminal) {
    const { blueprintProblems } = await import('./blueprint-problems.ts')
    const { problems, warnings } = await blueprintProblems(await readBlueprintFile(file))
    for (const warning of warnings) terminal.complain(`${file}: warning: ${warning}`)
    for (const problem of problems) terminal.complain(`${file}: ${problem}`)
    if (problems.length > 0) return 1
    terminal.print(`${file} can run.`)
    return 0
  },
})
