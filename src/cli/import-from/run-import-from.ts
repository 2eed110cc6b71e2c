import { ruleOf } from '../../records/fields/field-rules.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { FieldLimits } from '../../shared/fields/field-limits.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { remoteAddress } from '../applications/remotes.ts'
import type { Terminal } from '../command.ts'
import { fieldsOf } from '../fields/field-commands.ts'
import { type Management, Refused } from '../management.ts'
import { withManagement } from '../open-management.ts'
import { makeUsers, type PlannedUsers, planLine, planUsers } from '../run-user-import.ts'
import { type BroughtRows, bringRows } from './bring-rows.ts'
import { type CheckedTable, checkRows } from './check-rows.ts'
import { circleLines, counted, missingLines, problemText, tableLines } from './show-plan.ts'
import {
  importOrder,
  type OrderedTable,
  type PresentFields,
  type Source,
  type SourceField,
  type SourceTable,
} from './source.ts'

interface ImportRequest {
  readonly yes: boolean
  readonly skip: boolean
  readonly url?: string | undefined
  readonly remote?: string | undefined
  readonly open: (present: PresentFields) => Promise<Source>
}

/** What `quoin import-from` does with a source of tables. Gives its exit code. */
export async function runImportFrom(request: ImportRequest, terminal: Terminal): Promise<number> {
  const address = await remoteAddress(terminal, request)
  return withManagement(terminal, address, async (management) => {
    const storages = presentStorages(management)
    const source = await request.open(async (storage) => (await storages.fields(storage)) ?? [])
    try {
      const ordered = importOrder(source.tables)
      const checked = await checkAll(ordered, terminal)
      await showPlan(source, ordered, checked, { storages, terminal })
      const refused = checked.reduce((sum, table) => sum + table.refused, 0)
      const users = source.users && (await planUsers(source.users(), management, terminal))
      if (refused + (users?.refused ?? 0) > 0 && !request.skip) {
        const rest = request.yes ? 'Nothing was imported. ' : ''
        terminal.complain(
          `${cannot(refused, users)} ${rest}Mend them, give a column another type, or leave them out with --skip-invalid.`,
        )
        return 1
      }
      if (!request.yes) {
        if (users) terminal.print(planLine(users))
        terminal.print('Nothing was changed. Import with --yes.')
        return 0
      }
      const rows = checked.reduce((sum, table) => sum + table.rows, 0)
      const code = await importAll(ordered, rows, { management, storages, terminal })
      return users ? Math.max(code, await makeUsers(users, management, terminal)) : code
    } finally {
      await source.close()
    }
  })
}

function cannot(rows: number, users: PlannedUsers | undefined): string {
  const parts = [
    ...(rows > 0 ? [counted(rows, 'row')] : []),
    ...(users && users.refused > 0 ? [counted(users.refused, 'user')] : []),
  ]
  return `${parts.join(' and ')} cannot be imported.`
}

async function checkAll(
  ordered: readonly OrderedTable[],
  terminal: Terminal,
): Promise<readonly CheckedTable[]> {
  const checked: CheckedTable[] = []
  for (const { table } of ordered)
    checked.push(await checkRows(table, (rows) => terminal.redraw?.(`${table.storage}: ${rows} rows read`)))
  terminal.redraw?.('')
  return checked
}

interface PlanParts {
  readonly storages: PresentStorages
  readonly terminal: Terminal
}

async function showPlan(
  source: Source,
  ordered: readonly OrderedTable[],
  checked: readonly CheckedTable[],
  { storages, terminal }: PlanParts,
): Promise<void> {
  for (const table of checked)
    for (const line of tableLines(table, await storages.fields(table.table.storage))) terminal.print(line)
  const unsaid = [
    ...source.unsaid,
    ...circleLines(ordered),
    ...checked.flatMap(missingLines),
    ...checked
      .filter(({ hasUncheckedKeys }) => hasUncheckedKeys)
      .map(
        ({ table }) =>
          `${table.storage} has too many rows to compare all keys: of rows with one key the last counts.`,
      ),
  ]
  if (unsaid.length > 0) terminal.print('What cannot be said, or is left out:')
  for (const line of unsaid) terminal.print(`  ${line}`)
  for (const { table, problems, refused } of checked) {
    for (const problem of problems) terminal.complain(problemText(table.title, problem))
    if (refused > problems.length)
      terminal.complain(`${table.title}: ${counted(refused, 'row')} in all, of which the first are listed.`)
  }
}

interface ImportParts extends PlanParts {
  readonly management: Management
}

async function importAll(
  ordered: readonly OrderedTable[],
  rows: number,
  { management, storages, terminal }: ImportParts,
): Promise<number> {
  let created = terminal.clock() - rows
  const deferredOf = new Map(ordered.map(({ table, deferred }) => [table.storage, deferred]))
  await storages.make(
    ordered.map(({ table }) => table),
    (storage) => deferredOf.get(storage) ?? new Set(),
  )
  const bring = async (table: SourceTable, deferred: ReadonlySet<string>, isSecond: boolean) =>
    bringRows(table, {
      ...{ management, deferred, isSecond },
      createdAt: () => created++,
      rules: (await storages.fields(table.storage)) ?? [],
      counted: (rows) => terminal.redraw?.(`${table.storage}: ${rows} rows done`),
    })
  const brought: [SourceTable, BroughtRows][] = []
  try {
    for (const { table, deferred } of ordered) brought.push([table, await bring(table, deferred, false)])
    for (const { table, deferred } of ordered)
      if (deferred.size > 0) mergeSecond(brought, table, await bring(table, new Set(), true))
  } catch (error) {
    terminal.complain('The import was interrupted. Run the same command again: it goes on where it was.')
    throw error
  }
  terminal.redraw?.('')
  return report(brought, terminal)
}

/** New documents that got their references behind them are not changed ones. */
function mergeSecond(
  brought: readonly [SourceTable, BroughtRows][],
  table: SourceTable,
  second: BroughtRows,
): void {
  const first = brought.find(([one]) => one === table)?.[1]
  if (!first) return
  const changed = Math.max(0, second.changed - first.created)
  first.same = Math.max(0, first.same - changed)
  first.changed += changed
  first.refused += second.refused
  first.problems.push(...second.problems)
}

function report(brought: readonly [SourceTable, BroughtRows][], terminal: Terminal): number {
  let isWhole = true
  for (const [{ storage, title }, { created, changed, same, unfit, refused, problems, files }] of brought) {
    terminal.print(
      `${storage}: ${created} new, ${changed} changed, ${same} the same, ${unfit + refused} left out.`,
    )
    if (files.uploaded + files.same + files.refused > 0)
      terminal.print(
        `${storage}: ${counted(files.uploaded, 'file')} uploaded, ${files.same} the same, ${files.refused} left out.`,
      )
    if (refused + files.refused === 0) continue
    isWhole = false
    for (const problem of problems) terminal.complain(problemText(title, problem))
    if (refused > problems.length)
      terminal.complain(`${title}: ${counted(refused, 'row')} in all, of which the first are listed.`)
  }
  return isWhole ? 0 : 1
}

interface PresentStorages {
  /** Undefined where the cluster has no such storage. */
  fields(storage: string): Promise<readonly FieldRule[] | undefined>
  /** Makes the storages, and those of their fields that are not there. `optional`: fields of a storage that are set later. */
  make(tables: readonly SourceTable[], optional: (storage: string) => ReadonlySet<string>): Promise<void>
}

/** Storages and fields of the cluster: what an import finds there, and what it makes. */
function presentStorages(management: Management): PresentStorages {
  const known = new Map<string, readonly FieldRule[] | undefined>()
  const fields = async (storage: string) => {
    if (!known.has(storage)) known.set(storage, await fieldsIn(management, storage))
    return known.get(storage)
  }
  return {
    fields,
    async make(tables, optional) {
      // A reference needs the storage that it leads to.
      for (const { storage } of tables)
        if (!(await fields(storage))) await management.call('POST', '/_system/storages', { name: storage })
      for (const { storage, fields: requested } of tables) {
        const present = await fields(storage)
        for (const field of requested)
          if (!present?.some(({ name }) => name === field.name))
            await management.call('POST', '/blueprintfields', recordOf(storage, field, optional(storage)))
        known.delete(storage)
      }
    },
  }
}

async function fieldsIn(management: Management, storage: string): Promise<readonly FieldRule[] | undefined> {
  try {
    await management.call('GET', `/_system/storages/${storage}/count`)
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
  return (await fieldsOf(management, storage)).flatMap((record) => ruleOf(record) ?? [])
}

function recordOf(
  storage: string,
  { name, label, type, limits, required, unique, refersTo }: SourceField,
  optional: ReadonlySet<string>,
): JsonObject {
  return {
    storage,
    name,
    type,
    ...(label !== undefined && { label: label.slice(0, 200) }),
    ...(limits && { validation_rules: jsonOf(limits) }),
    ...(required && !optional.has(name) && { required }),
    ...(unique !== undefined && { unique }),
    ...(refersTo !== undefined && { reference: { storage: refersTo } }),
  }
}

/** Only what is set, as JSON. */
function jsonOf(limits: FieldLimits): JsonObject {
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, value]): [string, JsonValue][] => {
      if (value === undefined) return []
      return [[name, typeof value === 'object' ? [...value] : value]]
    }),
  )
}
