import { Button, Group, Switch, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { Document } from '../../../shared/api/documents.ts'
import { findDocuments, storageQuery } from '../../api/storages.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { Icon } from '../../controls/icon.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { useOpened } from '../../controls/use-opened.ts'
import { useTabTitle } from '../../controls/use-tab-title.ts'
import { MakeApiDialog } from '../blueprints/make-api-dialog.tsx'
import type { ScreenProps } from '../screen-props.ts'
import { AdviceDrawer } from './advice-drawer.tsx'
import { AdviceNotice } from './advice-notice.tsx'
import { ColumnMenu } from './column-menu.tsx'
import { DocumentCell } from './document-cell.tsx'
import { valueAt } from './document-shape.ts'
import { ExportDocuments } from './export-documents.tsx'
import { FilterBar } from './filter-bar.tsx'
import { ImportDocumentsDialog } from './import-documents-dialog.tsx'
import { StorageMenu } from './storage-menu.tsx'
import { useDocumentList } from './use-document-list.ts'

/** The documents of a storage. */
export function DocumentsScreen({ params }: ScreenProps) {
  const guid = params.storage ?? ''
  const { data: storage, error } = useQuery(storageQuery(guid))
  const list = useDocumentList(guid, storage?.name ?? '')
  const [opened, open] = useOpened()
  const [isImporting, take] = useDisclosure(false)
  const [isMaking, api] = useDisclosure(false)
  useTabTitle(storage?.name ?? 'Documents')
  const columns = useMemo(() => columnsOf(list.columns, list.removed), [list.columns, list.removed])
  if (error) return <ErrorNotice error={error} title="Could not load this storage" />
  return (
    <>
      <ScreenHead
        title={storage?.name ?? ' '}
        about={storage?.description || undefined}
        parent={{ href: '/data', label: 'Storages' }}
      >
        <Button variant="default" leftSection={<Icon name="upload" size={16} />} onClick={take.open}>
          Import
        </Button>
        <ExportDocuments storage={guid} name={storage?.name ?? ''} />
        <Button variant="default" leftSection={<Icon name="api" size={16} />} onClick={api.open}>
          Make API
        </Button>
        <Button
          component={Link}
          href={`/data/storages/${guid}/documents/new`}
          leftSection={<Icon name="plus" size={16} />}
        >
          New document
        </Button>
        {storage ? <StorageMenu storage={storage} /> : null}
      </ScreenHead>
      <AdviceNotice storage={guid} onOpen={() => open('advice')} />
      <Group mb="sm" gap="sm">
        <SearchField label="Search all text" />
        <FilterBar fields={list.fields} filters={list.filters} onChange={list.setFilters} />
        <Group ml="auto" gap="sm">
          <Switch
            label="Removed"
            checked={list.removed}
            onChange={(event) => list.setRemoved(event.currentTarget.checked)}
          />
          <ColumnMenu fields={list.fields} columns={list.columns} onChange={list.setColumns} />
        </Group>
      </Group>
      <RecordTable<Document>
        label={`Documents of ${storage?.name ?? 'the storage'}`}
        queryKey={['documents', guid, 'list']}
        load={(body, signal) => findDocuments(guid, body, signal)}
        body={list.body}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => `/data/storages/${guid}/documents/${_meta.guid}`}
        minWidth={130 * columns.length}
        empty={<NoDocuments isSearch={list.filters.length > 0} removed={list.removed} />}
      />
      <AdviceDrawer storage={guid} opened={opened === 'advice'} onClose={() => open('')} />
      <ImportDocumentsDialog opened={isImporting} onClose={take.close} storage={guid} />
      {storage ? <MakeApiDialog opened={isMaking} onClose={api.close} storage={storage.name} /> : null}
    </>
  )
}

function columnsOf(names: readonly string[], removed: boolean): Column<Document>[] {
  return [
    ...names.map((name) => ({
      id: name,
      label: name,
      sort: name,
      render: (document: Document) => <DocumentCell name={name} value={valueAt(document, name)} />,
    })),
    {
      id: '_meta',
      label: removed ? 'Removed' : 'Changed',
      sort: removed ? '_meta.removed' : '_meta.updated',
      width: 130,
      render: ({ _meta }) => <Time at={removed ? _meta.removed : _meta.updated} />,
    },
  ]
}

function NoDocuments({ isSearch, removed }: { readonly isSearch: boolean; readonly removed: boolean }) {
  if (isSearch) return <EmptyState icon="search" title="No match" />
  if (removed) return <EmptyState icon="trash" title="No removed documents" />
  return (
    <EmptyState icon="data" title="No documents">
      <Text size="sm">
        Create one, import a file with one JSON document per line, or let a blueprint create them.
      </Text>
    </EmptyState>
  )
}
