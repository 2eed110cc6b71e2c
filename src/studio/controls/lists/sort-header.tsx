import { Table, VisuallyHidden } from '@mantine/core'
import { controlsTexts } from '../../texts/controls.ts'
import { Icon } from '../icon.tsx'
import type { Column } from './column.ts'
import type { ListAddress, Readdress } from './list-address.ts'
import classes from './record-table.module.css'

interface SortHeaderProps {
  readonly column: Pick<Column<never>, 'label' | 'sort' | 'numeric' | 'width'>
  readonly sort: ListAddress['sort']
  readonly readdress: Readdress
}

/** The head of a column: up, down, and as it was. Numbers begin with the largest. */
export function SortHeader({ column, sort, readdress }: SortHeaderProps) {
  const { label, numeric = false, width, sort: field } = column
  const order = field !== undefined && sort?.field === field ? sort.order : undefined
  const [first, second] = numeric ? [`-${field}`, field] : [field, `-${field}`]
  const next = order === undefined ? first : order === (numeric ? 'desc' : 'asc') ? second : ''
  return (
    <Table.Th
      w={width}
      className={numeric ? classes.numeric : undefined}
      aria-sort={order === undefined ? undefined : order === 'asc' ? 'ascending' : 'descending'}
    >
      {label === '' ? (
        <VisuallyHidden>{controlsTexts.actions}</VisuallyHidden>
      ) : field === undefined ? (
        label
      ) : (
        <button type="button" className={classes.sort} onClick={() => readdress({ sort: next ?? '' })}>
          {label}
          {order === undefined ? null : <Icon name={order === 'asc' ? 'up' : 'down'} size={13} />}
        </button>
      )}
    </Table.Th>
  )
}
