import { Group, Pagination, Table, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import { Link } from 'wouter'
import type { DocumentSearch } from '../../../shared/api/documents.ts'
import type { Page } from '../../api/request.ts'
import { ErrorNotice } from '../error-notice.tsx'
import type { Column } from './column.ts'
import { bodyOf, shownPage, useListAddress } from './list-address.ts'
import { emptyTrail, listPages } from './list-pages.ts'
import classes from './record-table.module.css'
import { SkeletonRows } from './skeleton-rows.tsx'
import { SortHeader } from './sort-header.tsx'

interface RecordTableProps<T> {
  /** What the table holds, for screen readers. */
  readonly label: string
  readonly queryKey: readonly unknown[]
  readonly load: (body: DocumentSearch, signal: AbortSignal) => Promise<Page<T>>
  readonly columns: readonly Column<T>[]
  readonly keyOf: (record: T) => string
  /** Where a click on the row goes; the link is in the first column. */
  readonly hrefOf?: (record: T) => string
  /** What the address does not say: filters of the screen. */
  readonly body?: DocumentSearch
  /** Shown in place of rows where there are none. */
  readonly empty: ReactNode
  readonly limit?: number
  /** Pixels below which it scrolls sideways. */
  readonly minWidth?: number
  /** Milliseconds; reads again by itself. */
  readonly refetchInterval?: number | false
}

/** A page of records: sorted, searched and paged by the server, as the address says. */
export function RecordTable<T>(props: RecordTableProps<T>) {
  const { queryKey, load, columns, body = {}, limit = 50, refetchInterval = false } = props
  const [address, readdress] = useListAddress()
  const wanted: DocumentSearch = { ...body, ...bodyOf(address, limit) }
  const trail = useRef(emptyTrail())
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey: [...queryKey, wanted],
    queryFn: ({ signal }) => load(wanted, signal),
    placeholderData: keepPreviousData,
    refetchInterval,
  })
  if (error && !data) return <ErrorNotice error={error} title="Could not load the list" onRetry={refetch} />
  const page = shownPage(address, limit)
  const pages = listPages(trail.current, JSON.stringify([queryKey, body, address.query, address.sort]), {
    page,
    limit,
    total: data?.total ?? 0,
    after: wanted.after ?? '',
    // The rows of the page before are shown until this one is there; so is its cursor.
    cursor: isPlaceholderData ? '' : (data?.cursor ?? ''),
  })
  return (
    <>
      {error ? <ErrorNotice error={error} title="Could not reload the list" onRetry={refetch} /> : null}
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
                  <Row key={props.keyOf(record)} record={record} {...props} />
                ))
              )}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        {data && data.records.length === 0 ? <div className={classes.empty}>{props.empty}</div> : null}
      </div>
      <Group justify="space-between" mt="sm" mih={32}>
        <Text size="sm" c="dimmed" className="numbers" role="status">
          {data ? counted(data, page, limit) : ' '}
        </Text>
        {pages.last > 1 ? (
          <Pagination
            size="sm"
            total={pages.last}
            value={Math.min(page, pages.last)}
            onChange={(wanted) => {
              if (pages.canOpen(wanted)) readdress(pages.wordsOf(wanted))
            }}
            getControlProps={(control) => ({
              'aria-label': `${control} page`,
              ...(control === 'previous' && !pages.canOpen(page - 1) && { disabled: true }),
            })}
            getItemProps={(wanted) => ({ 'aria-label': `Page ${wanted}`, disabled: !pages.canOpen(wanted) })}
          />
        ) : null}
      </Group>
    </>
  )
}

function Row<T>({ record, columns, hrefOf }: RecordTableProps<T> & { readonly record: T }) {
  const href = hrefOf?.(record)
  return (
    <Table.Tr className={href === undefined ? undefined : classes.row}>
      {columns.map((column, i) => (
        <Table.Td key={column.id} className={column.numeric ? `numbers ${classes.numeric}` : undefined}>
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

function counted({ records, total }: Page<unknown>, page: number, limit: number): string {
  if (total === 0) return ' '
  if (total <= records.length) return `${total} in all`
  const first = (page - 1) * limit + 1
  return `${first.toLocaleString()}–${(first + records.length - 1).toLocaleString()} of ${total.toLocaleString()}`
}
