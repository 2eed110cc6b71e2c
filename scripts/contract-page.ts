import { contractRows, type Row } from '../test/contract/contract-rows.ts'
import { findScenarios } from '../test/contract/find-scenarios.ts'
import { code, prose, table } from './markdown.ts'

/** Each promise of the contract, and the scenario that proves it. */
export async function contractPage(): Promise<string> {
  const rows = await contractRows()
  const files = new Map((await findScenarios()).map(({ id, file }) => [id, file]))
  const proof = ({ id }: Row) => {
    const file = files.get(id)
    return file === undefined ? 'no scenario' : `[${file}](../test/contract/scenarios/${file})`
  }
  const cells = (row: Row) => [code(row.id), prose(row.promise), proof(row)]
  const sections = [...Map.groupBy(rows, (row) => row.table)].map(
    ([name, all]) =>
      `## ${capitalized(name)}\n\n${table('', ['Row', 'Promise', 'Proven by'], all.map(cells))}`,
  )
  return `# Contract

<!-- Made by npm run docs from the rows and scenarios of the contract. Do not edit. -->

${rows.length} promises: every row of the contract's tables, and the promises of its prose. Each is proven by a scenario with
its name, which runs on a complete Quoin in \`npm run test:all\`. The suite fails on a row without a scenario, and on a scenario without
a row.

${sections.join('\n')}`
}

function capitalized(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
}
