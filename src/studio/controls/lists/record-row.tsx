import { Table } from '@mantine/core'
import { Link } from 'wouter'
import type { Column } from './column.ts'
import classes from './record-table.module.css'

interface RecordRowProps<T> {
  readonly record: T
  readonly columns: readonly Column<T>[]
  /** Where a click on the row goes; the link is in the first column. */
  readonly hrefOf?: ((record: T) => string) | undefined
}

/** A record as a row of a table, and as a card on a phone: its first column is the title there. */
export function RecordRow<T>({ record, columns, hrefOf }: RecordRowProps<T>) {
  const href = hrefOf?.(record)
  return (
    <Table.Tr className={href === undefined ? undefined : classes.row}>
      {columns.map((column, i) => (
        <Table.Td
          key={column.id}
          className={column.numeric ? `numbers ${classes.numeric}` : undefined}
          data-label={typeof column.label === 'string' && i > 0 ? column.label : undefined}
        >
          {i === 0 && href !== undefined ? (
            <Link href={href} className={classes.link}>
              {column.render(record)}
            </Link>
          ) : (
            column.render(record)
          )}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}
