import { stat, writeFile } from 'node:fs/promises'
import type { ApiDocument } from '../http/docs/open-api-document.ts'
import { isJsonObject } from '../shared/json.ts'
import { command, type Terminal } from './command.ts'
import { urlFlag, withManagement } from './open-management.ts'
import { readBlueprintFile } from './read-blueprint-file.ts'

export const exportBlueprintFile = command({
  name: 'export',
  operands: [{ name: '<blueprint>' }, { name: '<file>', optional: true, completes: 'file' }],
  flags: urlFlag,
  summary: 'Writes a blueprint to a file, or to the standard output.',
  about: `<blueprint> is a name or a guid. The file contains the saved blocks, without staged changes, with names of blocks and in
a fixed order, so that a diff shows only what changed; and the fields, page templates and groups that they need. A file
of that name is replaced.`,
  async run({ positionals: [blueprint = '', file], values }, terminal) {
    const { runExport } = await import('./run-export.ts')
    return withManagement(terminal, values.url, (management) =>
      runExport(management, blueprint, file, terminal),
    )
  },
})

export const importBlueprintFile = command({
  name: 'import',
  operands: [{ name: '<file>', completes: 'file' }],
  flags: {
    activate: {
      type: 'boolean',
      help: 'Check the file first (nothing is created if it cannot run), then activate the blueprint.',
    },
    replace: {
      type: 'boolean',
      help: 'Update the blueprint of that name; it and its blocks of the same names keep their guids.',
    },
    another: {
      type: 'boolean',
      help: 'Create one more blueprint although there is one of that name.',
    },
    ...urlFlag,
  },
  summary: 'Creates a blueprint from a file; with --activate its endpoints go live.',
  about: `Prints the guid of the blueprint. Storages, fields, page templates and groups of the file are created if they are
missing; those that differ are listed and left, or changed with --replace. Blocks of extensions that only the cluster has
are checked when it activates the blueprint. If the import fails, what it created is
removed again and what it changed is changed back. A name that is taken needs --replace or --another.`,
  async run({ positionals: [file = ''], values }, terminal) {
    const { runImport } = await import('./run-import.ts')
    const { activate = false, replace = false, another = false, url } = values
    return runImport({ file, activate, replace, another, url }, terminal)
  },
})

export const client = command({
  name: 'client',
  operands: [],
  flags: {
    out: { type: 'string', value: '<file>', help: 'Writes it there. Without --out: to the standard output.' },
    url: {
      ...urlFlag.url,
      help: `The running server. Without --url: with an access token in QUOIN_TOKEN the server of this machine
(QUOIN_HOST, QUOIN_PORT), else the only server with a sign-in of quoin login.`,
    },
  },
  summary: 'Writes a TypeScript client for the endpoints that you may call.',
  about: `One file without dependencies, with the types of parameters, bodies and replies. A server serves the same at
/api/v1/client.ts. Write it again when an application changes: a call that no longer fits is an error of the compiler.`,
  async run({ values: { out, url } }, terminal) {
    const { runningServer } = await import('./open-management.ts')
    const { typedClient } = await import('../http/docs/typed-client.ts')
    const server = url ?? (await runningServer(terminal))
    const document: unknown = await withManagement(terminal, server, (management) =>
      management.call('GET', '/openapi.json'),
    )
    if (!isDocument(document)) throw new Error(`${server} sent no OpenAPI document.`)
    const text = typedClient(document)
    if (out === undefined) terminal.print(text)
    else await writeFile(out, text)
    return 0
  },
})

/** The server has made it. */
function isDocument(value: unknown): value is ApiDocument {
  return isJsonObject(value) && isJsonObject(value.info) && isJsonObject(value.paths)
}

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
    const { problems, warnings } = await blueprintProblems(await readBlueprintFile(path), terminal)
    if (json) {
      const reported = [
        ...warnings.map((message) => ({ message, warning: true })),
        ...problems.map((message) => ({ message })),
      ]
      terminal.print(
        JSON.stringify(
          reported.map((one) => ({ file: path, ...one })),
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
  const { problems } = await checkFolder(folder, terminal)
  if (json) terminal.print(JSON.stringify(problems, undefined, 2))
  else for (const problem of problems) terminal.complain(problemText(folder, problem))
  if (problems.some(({ warning }) => warning === undefined)) return 1
  if (!json) terminal.print(`${folder} can run.`)
  return 0
}
