import { Button, Group, Text } from '@mantine/core'
import { useLocation } from 'wouter'
import type { Template } from '../../../shared/api/blueprints/templates.ts'
import { search } from '../../api/request.ts'
import { Icon } from '../../controls/icon.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { type Column, RecordTable } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { rulesTexts } from '../../texts/data.ts'

const columns: readonly Column<Template>[] = [
  { id: 'name', label: rulesTexts.template, sort: 'name', render: ({ name }) => name },
  {
    id: 'description',
    label: rulesTexts.description,
    render: ({ description }) => (
      <Text size="sm" c="dimmed" lineClamp={2}>
        {description}
      </Text>
    ),
  },
  {
    id: 'by',
    label: rulesTexts.changedBy,
    width: 140,
    render: ({ last_modified_by }) => last_modified_by.username,
  },
  {
    id: 'changed',
    label: rulesTexts.changed,
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
      <ScreenHead title={rulesTexts.pageTemplates} about={rulesTexts.pageTemplatesAbout}>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => go('/data/templates/new')}>
          {rulesTexts.newTemplate}
        </Button>
      </ScreenHead>
      <Group mb="sm">
        <SearchField label={rulesTexts.searchTemplates} />
      </Group>
      <RecordTable<Template>
        label={rulesTexts.pageTemplates}
        queryKey={['templates', 'list']}
        load={(body, signal) => search<Template>('/blueprinttemplates/search', body, signal)}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => `/data/templates/${_meta.guid}`}
        empty={
          <EmptyState icon="file" title={rulesTexts.noTemplates}>
            <Text size="sm">{rulesTexts.noTemplatesText}</Text>
          </EmptyState>
        }
      />
    </>
  )
}
