import { Group, Pagination, Text } from '@mantine/core'
import type { RecordPage } from '../../../shared/record-page.ts'
import { controlsTexts } from '../../texts/controls.ts'
import type { ShownPage } from './use-record-page.ts'

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
