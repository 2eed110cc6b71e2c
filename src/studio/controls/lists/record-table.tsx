import { Group, Pagination, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { RecordPage } from '../../../shared/record-page.ts'
import { controlsTexts } from '../../texts/shell.ts'
import { Icon } from '../icon.tsx'
import { ErrorNotice } from '../states.tsx'
import type { ListAddress, Readdress } from './list-address.ts'
import classes from './record-table.module.css'
import { type RecordPageOptions, type ShownPage, useRecordPage } from './use-record-page.ts'

interface RecordTableProps<T> extends RecordPageOptions<T> {
  /** What the table holds, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly keyOf: (record: T) => string
  /** Where a click on the row goes; the link is in the first column. */
  readonly hrefOf?: (record: T) => string
  /** Shown in place of rows where there are none. */
  readonly empty: ReactNode
  /** Pixels below which it scrolls sideways. */
  readonly minWidth?: number
}

/** A page of records: sorted, searched and paged by the server, as the address says. */
export function RecordTable<T>(props: RecordTableProps<T>) {
  const { columns } = props
  const shown = useRecordPage(props)
  const { data, error, isPending, isPlaceholderData, refetch, address, readdress } = shown
  if (error && !data)
    return <ErrorNotice error={error} title={controlsTexts.couldNotLoadList} onRetry={refetch} />
  return (
    <>
      {error ? (
        <ErrorNotice error={error} title={controlsTexts.couldNotReloadList} onRetry={refetch} />
      ) : null}
      <div className={`surface ${classes.frame}`} aria-busy={isPending || isPlaceholderData}>
        <Table.ScrollContainer minWidth={props.minWidth ?? 640} type="native">
          <Table aria-label={props.label} className={isPlaceholderData ? classes.stale : undefined}>
            <Table.Thead>
              <Table.Tr>
                {columns.map((column) => (
                  <SortHeader key={column.id} column={column} sort={address.sort} readdress={readdress} />
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {isPending ? (
                <SkeletonRows columns={columns.length} rows={8} />
              ) : (
                (data?.records ?? []).map((record) => (
                  <RecordRow
                    key={props.keyOf(record)}
                    record={record}
                    columns={columns}
                    hrefOf={props.hrefOf}
                  />
                ))
              )}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        {data && data.records.length === 0 ? <div className={classes.empty}>{props.empty}</div> : null}
      </div>
      <ListFooter shown={shown} />
    </>
  )
}

/** Rows that stand for those that are being read, of their height. */
function SkeletonRows({ columns, rows }: { readonly columns: number; readonly rows: number }) {
  return Array.from({ length: rows }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
    <Table.Tr key={row}>
      {Array.from({ length: columns }, (_, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <Table.Td key={column}>
          <Skeleton height={14} my={4} width={column === 0 ? '70%' : '45%'} />
        </Table.Td>
      ))}
    </Table.Tr>
  ))
}

export interface Column<T> {
  readonly id: string
  readonly label: ReactNode
  /** The field that the server sorts by; without one the column cannot be sorted. */
  readonly sort?: string
  readonly numeric?: boolean
  readonly width?: number | string
  readonly render: (record: T) => ReactNode
}

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

interface NameCellProps {
  readonly name: ReactNode
  readonly about: string
}

/** What a record is called, and what it is for. */
export function NameCell({ name, about }: NameCellProps) {
  return (
    <>
      {name}
      {about === '' ? null : (
        <Text size="xs" c="dimmed" fw={400} lineClamp={2}>
          {about}
        </Text>
      )}
    </>
  )
}

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

/** Below a list: which of its records are shown, and the pages that can be opened. */
export function ListFooter({ shown }: { readonly shown: ShownPage<unknown> }) {
  const { data, page, pages, limit, readdress } = shown
  return (
    <Group justify="space-between" mt="sm" mih={32}>
      <Text size="sm" c="dimmed" className="numbers" role="status">
        {data ? counted(data, page, limit) : ' '}
      </Text>
      {pages.last > 1 ? (
        <Pagination
          size="sm"
          total={pages.last}
          value={Math.min(page, pages.last)}
          onChange={(requested) => {
            if (pages.canOpen(requested)) readdress(pages.wordsOf(requested))
          }}
          getControlProps={(control) => ({
            'aria-label': controlsTexts.pageControl(control),
            ...(control === 'previous' && !pages.canOpen(page - 1) && { disabled: true }),
          })}
          getItemProps={(requested) => ({
            'aria-label': controlsTexts.pageNumber(requested),
            disabled: !pages.canOpen(requested),
          })}
        />
      ) : null}
    </Group>
  )
}

function counted({ records, total }: RecordPage<unknown>, page: number, limit: number): string {
  if (total === 0) return ' '
  if (total <= records.length) return controlsTexts.total(total)
  const first = (page - 1) * limit + 1
  return controlsTexts.range(
    first.toLocaleString(),
    (first + records.length - 1).toLocaleString(),
    total.toLocaleString(),
  )
}
