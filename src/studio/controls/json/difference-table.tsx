import { Table, Text } from '@mantine/core'
import { controlsTexts } from '../../texts/shell.ts'
import type { Difference } from './diff-values.ts'
import classes from './difference-table.module.css'
import { shortJson } from './json-text.ts'

const signs = { added: '+', changed: '~', removed: '−' } as const

/** What was before and what is since, a line for each field that changed. */
export function DifferenceTable({ differences }: { readonly differences: readonly Difference[] }) {
  if (differences.length === 0) return <Text size="sm">{controlsTexts.nothingChanged}</Text>
  return (
    <Table layout="fixed" className={classes.table} aria-label={controlsTexts.changes}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="30%">{controlsTexts.field}</Table.Th>
          <Table.Th>{controlsTexts.before}</Table.Th>
          <Table.Th>{controlsTexts.after}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {differences.map(({ path, change, before, after }) => (
          <Table.Tr key={path}>
            <Table.Td className={classes.path}>
              <span aria-hidden="true">{signs[change]} </span>
              <span className={classes.spoken}>{change} </span>
              {path === '' ? controlsTexts.theWhole : path}
            </Table.Td>
            <Table.Td className={change === 'added' ? undefined : classes.before}>
              {change === 'added' ? '' : shown(before)}
            </Table.Td>
            <Table.Td className={change === 'removed' ? undefined : classes.after}>
              {change === 'removed' ? '' : shown(after)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** An empty text must not look like nothing. */
function shown(value: unknown): string {
  return value === '' ? '""' : shortJson(value, 600)
}
