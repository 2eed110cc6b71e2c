import { Skeleton, Table } from '@mantine/core'

/** Rows that stand for those that are being read, of their height. */
export function SkeletonRows({ columns, rows }: { readonly columns: number; readonly rows: number }) {
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
