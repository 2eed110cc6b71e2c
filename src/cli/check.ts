import { stat } from 'node:fs/promises'
import type { Terminal } from './command.ts'
import { command } from './command.ts'
import { readBlueprintFile } from './read-blueprint-file.ts'

export const check = command({
  name: 'check',
  operands: [{ name: '<folder>', optional: true, completes: 'file' }],
  flags: {
    json: {
      type: 'boolean',
      help: 'Prints the problems as a JSON list: file, line, column, block, pin, message.',
    },
  },
  summary: 'Checks an application, or one blueprint file, and prints every problem.',
  about: `Reads the folder of an application; the present one if none is named. Prints one line for each problem of each file,
with line and column, block and pin, and exits with 1 if there is any. Warnings are printed too; an application with
warnings can run. Of a blueprint file, its fields, rules, storages and groups are checked as well. Nothing is stored
and no server is needed: for editors, hooks and build pipelines. docs/applications.md has the files.`,
  async run({ positionals: [path = '.'], values: { json = false } }, terminal) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory()) return checkApplication(path, json, terminal)
    const { blueprintProblems } = await import('./blueprint-problems.ts')
    const { problems, warnings } = await blueprintProblems(await readBlueprintFile(path))
    if (json) {
      const told = [
        ...warnings.map((message) => ({ message, warning: true })),
        ...problems.map((message) => ({ message })),
      ]
      terminal.print(
        JSON.stringify(
          told.map((one) => ({ file: path, ...one })),
          undefined,
          2,
        ),
      )
      return problems.length > 0 ? 1 : 0
    }
    for (const warning of warnings) terminal.complain(`${path}: warning: ${warning}`)
    for (const problem of problems) terminal.complain(`${path}: ${problem}`)
    if (problems.length > 0) return 1
    terminal.print(`${path} can run.`)
    return 0
  },
})

async function checkApplication(folder: string, json: boolean, terminal: Terminal): Promise<number> {
  const { checkFolder, problemText } = await import('./applications/check-folder.ts')
  const { problems } = await checkFolder(folder)
  if (json) terminal.print(JSON.stringify(problems, undefined, 2))
  else for (const problem of problems) terminal.complain(problemText(folder, problem))
  if (problems.some(({ warning }) => warning === undefined)) return 1
  if (!json) terminal.print(`${folder} can run.`)
  return 0
}
