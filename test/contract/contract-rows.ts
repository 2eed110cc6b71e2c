import { readFile } from 'node:fs/promises'

/** One fact that the contract promises. */
export interface Row {
  /** Of the contract, or the name of a part of it that is prose. */
  readonly table: string
  /** Unique in the whole contract. */
  readonly id: string
  readonly promise: string
  /** Of blocks. */
  readonly group?: string
}

/** The contract's tables, and the promises of its prose, in its order. */
export async function contractRows(): Promise<readonly Row[]> {
  return JSON.parse(await readFile(new URL('../contract.json', import.meta.url), 'utf8'))
}

/** The test files that prove them: two run at once. What is in neither list is in the third. */
const tablesOf: Readonly<Record<'endpoints' | 'blocks', readonly string[]>> = {
  endpoints: ['endpoints', 'resources', 'limits'],
  blocks: ['blocks', 'pins'],
}
export const parts = ['endpoints', 'blocks', 'promises'] as const
export type Part = (typeof parts)[number]

export function partOf({ table }: Row): Part {
  if (tablesOf.endpoints.includes(table)) return 'endpoints'
  return tablesOf.blocks.includes(table) ? 'blocks' : 'promises'
}
