import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonValue } from '../../../shared/json.ts'
import { remoteAddress } from '../../applications/remotes.ts'
import { blueprintProblems } from '../../blueprint-problems.ts'
import type { Terminal } from '../../command.ts'
import { runImport } from '../../run-import.ts'
import { readDocument } from '../collections/record-folder.ts'
import { counted } from '../show-plan.ts'
import type { MadeBlueprint } from './openapi-blueprint.ts'

interface FlowImport {
  readonly path: string
  readonly yes: boolean
  readonly url?: string | undefined
  readonly remote?: string | undefined
  readonly read: (document: JsonValue) => MadeBlueprint
}

/** What `quoin import-from` does with a source of flows. Gives its exit code. */
export async function runFlowImport(request: FlowImport, terminal: Terminal): Promise<number> {
  const { path, yes } = request
  const url = await remoteAddress(terminal, request)
  const { json, made, unsaid } = await blueprintIn(path, request.read)
  terminal.print(`A blueprint with ${counted(made.length, 'trigger')}:`)
  for (const line of made) terminal.print(`  ${line}`)
  if (unsaid.length > 0) terminal.print('What is missing, or cannot be said:')
  for (const line of unsaid) terminal.print(`  ${line}`)
  const { problems, warnings } = await blueprintProblems(json, terminal)
  for (const problem of [...problems, ...warnings]) terminal.complain(problem)
  if (!yes) {
    terminal.print('Nothing was changed. Make the blueprint, which is not active then, with --yes.')
    return 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'quoin-import-'))
  try {
    const file = join(folder, 'imported.json')
    await writeFile(file, JSON.stringify(json), { mode: 0o600 })
    return await runImport({ file, activate: false, replace: false, another: false, url }, terminal)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function blueprintIn(path: string, read: FlowImport['read']): Promise<MadeBlueprint> {
  try {
    return read(await readDocument(path))
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (missing) throw new Error(`There is no file ${path}.`)
    throw new Error(`${path} ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
}
