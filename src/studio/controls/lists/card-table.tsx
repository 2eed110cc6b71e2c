import { Table, VisuallyHidden } from '@mantine/core'
import { controlsTexts } from '../../texts/controls.ts'
import type { Column } from './column.ts'
import { RecordRow } from './record-row.tsx'
import classes from './record-table.module.css'

interface CardTableProps<T> {
  /** What the table holds, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly records: readonly T[]
  readonly keyOf: (record: T) => string
  /** Pixels below which it scrolls sideways; on a phone each record is a card and nothing scrolls. */
  readonly minWidth: number
}

/** Records that are there as a whole, not in pages: a table, on a phone cards. */
export function CardTable<T>({ label, columns, records, keyOf, minWidth }: CardTableProps<T>) {
  return (
    <div className={`surface ${classes.frame}`}>
      <Table.ScrollContainer minWidth={minWidth} type="native">
        <Table aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ id, label: head, width, numeric }) => (
                <Table.Th key={id} w={width} className={numeric ? classes.numeric : undefined}>
                  {head === '' ? <VisuallyHidden>{controlsTexts.actions}</VisuallyHidden> : head}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {records.map((record) => (
              <RecordRow key={keyOf(record)} record={record} columns={columns} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  )
}
