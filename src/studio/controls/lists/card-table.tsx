import { Table } from '@mantine/core'
import type { ListAddress, Readdress } from './list-address.ts'
import classes from './record-table.module.css'
import { type Column, RecordRow, SortHeader } from './record-table.tsx'

interface CardTableProps<T> {
  /** What the table holds, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly records: readonly T[]
  readonly keyOf: (record: T) => string
  /** Pixels below which it scrolls sideways; on a phone each record is a card and nothing scrolls. */
  readonly minWidth: number
  /** Where columns with a `sort` sort; the records come sorted. */
  readonly sorting?: { readonly sort: ListAddress['sort']; readonly readdress: Readdress }
}

const unsorted = { sort: undefined, readdress: () => undefined }

/** Records that are there as a whole, not in pages: a table, on a phone cards. */
export function CardTable<T>(props: CardTableProps<T>) {
  const { label, columns, records, keyOf, minWidth, sorting = unsorted } = props
  return (
    <div className={`surface ${classes.frame}`}>
      <Table.ScrollContainer minWidth={minWidth} type="native">
        <Table aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <SortHeader key={column.id} column={column} {...sorting} />
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
