import { Button, Group, Text } from '@mantine/core'
import { useLocation } from 'wouter'
import type { Template } from '../../../shared/api/templates.ts'
import { search } from '../../api/request.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import { Icon } from '../../controls/icon.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'

const columns: readonly Column<Template>[] = [
  { id: 'name', label: 'Template', sort: 'name', render: ({ name }) => name },
  {
    id: 'description',
    label: 'Description',
    render: ({ description }) => (
      <Text size="sm" c="dimmed" lineClamp={1}>
        {description}
      </Text>
    ),
  },
  { id: 'by', label: 'Changed by', width: 140, render: ({ last_modified_by }) => last_modified_by.username },
  {
    id: 'changed',
    label: 'Changed',
    sort: '_meta.updated',
    width: 130,
    render: ({ _meta }) => <Time at={_meta.updated} />,
  },
]

/** What surrounds pages: their layout, and the style. */
export function TemplatesScreen() {
  const [, go] = useLocation()
  return (
    <>
      <ScreenHead
        title="Page templates"
        about="The frame around the content of pages: layout, style and script."
      >
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => go('/data/templates/new')}>
          New template
        </Button>
      </ScreenHead>
      <Group mb="sm">
        <SearchField label="Search templates" />
      </Group>
      <RecordTable<Template>
        label="Page templates"
        queryKey={['templates', 'list']}
        load={(body, signal) => search<Template>('/blueprinttemplates/search', body, signal)}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => `/data/templates/${_meta.guid}`}
        empty={
          <EmptyState icon="file" title="No templates">
            <Text size="sm">Without a template, pages are shown in a plain frame.</Text>
          </EmptyState>
        }
      />
    </>
  )
}
