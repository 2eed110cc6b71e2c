import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContractFixture } from './contract-fixture.ts'
import type { Row } from './contract-rows.ts'

/** Proves the promise of one row on a running Quoin, or throws. Leaves the room as others need it. */
export type Scenario = (fixture: ContractFixture) => Promise<void>

/** By the id of the row that they prove. */
export type Scenarios = Readonly<Record<string, Scenario>>

export interface FoundScenario {
  readonly id: string
  readonly scenario: Scenario
  /** Its name in scenarios/. */
  readonly file: string
}

interface ScenarioFile {
  readonly scenarios: Scenarios
}

const directory = join(import.meta.dirname, 'scenarios')

/** All that there are: a file in scenarios/ is found by existing. */
export async function findScenarios(): Promise<readonly FoundScenario[]> {
  const files = (await Array.fromAsync(glob('*.ts', { cwd: directory }))).sort()
  const found = await Promise.all(
    files.map(async (file) => {
      const { scenarios }: ScenarioFile = await import(join(directory, file))
      return Object.entries(scenarios).map(([id, scenario]) => ({ id, scenario, file }))
    }),
  )
  return found.flat()
}

/** What is wrong between rows and scenarios, one line each; nothing when each row has its one scenario. */
export function mismatches(
  rows: readonly Row[],
  found: readonly Pick<FoundScenario, 'id' | 'file'>[],
): string[] {
  const files = Map.groupBy(found, ({ id }) => id)
  const ids = Map.groupBy(rows, ({ id }) => id)
  return [
    ...rows.flatMap(({ table, id }) => (files.has(id) ? [] : [`${table}: ${id} has no scenario`])),
    ...[...ids].flatMap(([id, { length }]) => (length > 1 ? [`${id} is a row ${length} times`] : [])),
    ...[...files].flatMap(([id, same]) => {
      const where = same.map(({ file }) => file).join(', ')
      if (!ids.has(id)) return [`${id} in ${where} is no row`]
      return same.length > 1 ? [`${id} has a scenario in ${where}`] : []
    }),
  ]
}
