/** docs/benchmarks.md: written whole by the whole run, and section by section by what is measured alone. */
import { readFile, writeFile } from 'node:fs/promises'
import { withGrowingTables } from './growing/report-growing.ts'
import { withSection } from './report-memory.ts'
import { keepingSections } from './report-sections.ts'

const file = new URL('../docs/benchmarks.md', import.meta.url)

export function readReport(): Promise<string> {
  return readFile(file, 'utf8')
}

/** Replaces the page; sections that it does not have itself stay. */
export async function writeReport(page: string): Promise<void> {
  await writeFile(file, keepingSections(page, await readReport()))
  console.log('Written to docs/benchmarks.md.')
}

/** Puts a section in place of the one with its heading. */
export async function writeSection(section: string): Promise<void> {
  await writeFile(file, withSection(await readReport(), section))
  console.log('Written to docs/benchmarks.md.')
}

/** Puts what nodes and documents cost into docs/growing.md. */
export async function writeGrowing(tables: string): Promise<void> {
  const growing = new URL('../docs/growing.md', import.meta.url)
  await writeFile(growing, withGrowingTables(await readFile(growing, 'utf8'), tables))
  console.log('Written to docs/growing.md.')
}
