import { Alert, Button, Group, Menu, Tabs, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { send } from '../../../api/request.ts'
import { adviceQuery, canHelp, storageQuery } from '../../../api/storages.ts'
import { bytes } from '../../../controls/amounts.ts'
import { useOpened, useTabTitle } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { useListAddress } from '../../../controls/lists/list-address.ts'
import { notifyFailed } from '../../../controls/notify.ts'
import { fileName, saveFile } from '../../../controls/save-file.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { FailedScreen, LoadingScreen } from '../../../controls/states.tsx'
import { dataTexts } from '../../../texts/data.ts'
import { transferTexts } from '../../../texts/documents.ts'
import { MakeApiDialog } from '../../blueprints/make-api-dialog.tsx'
import { MakePagesDialog } from '../../blueprints/make-pages-dialog.tsx'
import type { ScreenProps } from '../../screen-props.ts'
import { AdviceDrawer } from '../advice-drawer.tsx'
import { StorageFields } from '../fields/storage-fields.tsx'
import { noEdits, type RowsOfEdits } from '../grid/use-cell-edits.ts'
import { StorageMenu } from '../storage-menu.tsx'
import { ImportDocumentsDialog } from '../transfer/import-documents-dialog.tsx'
import { dismissImport, useSavedImport } from '../transfer/saved-imports.ts'
import { StorageDocuments } from './storage-documents.tsx'
import { useDocumentList } from './use-document-list.ts'

const parent = { href: '/data', label: dataTexts.storages } as const

/** A storage: its documents, and beside them its fields. */
export function DocumentsScreen({ params }: ScreenProps) {
  const guid = params.storage ?? ''
  const { data: storage, error, refetch } = useQuery(storageQuery(guid))
  const [opened, open] = useOpened()
  const [words, setWords] = useSearchParams()
  // Cells that were refused stay while the fields are looked at.
  const cells = useState<RowsOfEdits>(noEdits)
  const [isImporting, { open: take, close }] = useDisclosure(false)
  const importing = { opened: isImporting, open: take, close }
  useTabTitle(storage?.name ?? dataTexts.documents)
  if (error)
    return (
      <FailedScreen error={error} title={dataTexts.couldNotLoadStorage} parent={parent} onRetry={refetch} />
    )
  if (!storage) return <LoadingScreen />
  const tab = words.get('tab') === 'fields' ? 'fields' : 'documents'
  return (
    <>
      <ScreenHead title={storage.name} about={storage.description || undefined} parent={parent}>
        <Actions storage={storage} importing={importing} />
      </ScreenHead>
      <SavedImportNotice storage={guid} onOpen={importing.open} />
      <AdviceNotice storage={guid} onOpen={() => open('advice')} />
      <Tabs
        value={tab}
        onChange={(next) => setWords(next === 'fields' ? { tab: 'fields' } : {}, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="documents">{dataTexts.documents}</Tabs.Tab>
          <Tabs.Tab value="fields">{dataTexts.fields}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="documents">
          <StorageDocuments key={guid} storage={storage} cells={cells} />
        </Tabs.Panel>
        <Tabs.Panel value="fields">
          <StorageFields storage={storage} />
        </Tabs.Panel>
      </Tabs>
      <AdviceDrawer storage={guid} opened={opened === 'advice'} onClose={() => open('')} />
    </>
  )
}

interface ActionsProps {
  readonly storage: StorageRecord
  readonly importing: { readonly opened: boolean; readonly open: () => void; readonly close: () => void }
}

function Actions({ storage, importing }: ActionsProps) {
  const { guid } = storage._meta
  const listed = useListed(storage)
  const [isMaking, api] = useDisclosure(false)
  const [isPaging, pages] = useDisclosure(false)
  return (
    <>
      <Button variant="default" leftSection={<Icon name="upload" size={16} />} onClick={importing.open}>
        {dataTexts.import}
      </Button>
      <ExportDocuments storage={guid} name={storage.name} listed={listed} />
      <Button variant="default" leftSection={<Icon name="api" size={16} />} onClick={api.open}>
        {dataTexts.makeApi}
      </Button>
      <Button variant="default" leftSection={<Icon name="file" size={16} />} onClick={pages.open}>
        {dataTexts.makePages}
      </Button>
      <Button
        component={Link}
        href={`/data/storages/${guid}/documents/new`}
        leftSection={<Icon name="plus" size={16} />}
      >
        {dataTexts.newDocument}
      </Button>
      <StorageMenu storage={storage} />
      <ImportDocumentsDialog opened={importing.opened} onClose={importing.close} storage={storage} />
      <MakeApiDialog opened={isMaking} onClose={api.close} storage={storage.name} />
      <MakePagesDialog opened={isPaging} onClose={pages.close} storage={storage.name} />
    </>
  )
}

/** What the documents are narrowed to and in which order, for an export. */
function useListed(storage: StorageRecord): Readonly<Record<string, string>> {
  const { body, columns } = useDocumentList(storage._meta.guid, storage.name)
  const [{ query, sort }] = useListAddress()
  return {
    ...(query !== '' && { query }),
    ...(body.filters && { filters: JSON.stringify(body.filters) }),
    ...(sort && { sort: JSON.stringify([{ [sort.field]: sort.order }]) }),
    ...(columns.length > 0 && { columns: JSON.stringify(columns) }),
  }
}

interface AdviceNoticeProps {
  readonly storage: string
  readonly onOpen: () => void
}

/** Says that searches on the storage read more than they need to; nothing while there is nothing to be done about it. */
function AdviceNotice({ storage, onOpen }: AdviceNoticeProps) {
  const { data } = useQuery(adviceQuery(storage))
  const slow = data?.searches.filter(canHelp).length ?? 0
  if (slow === 0) return null
  return (
    <Alert color="sand" variant="light" p="xs" mb="sm">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{dataTexts.slowSearches(slow)}</Text>
        <Button size="compact-sm" variant="default" onClick={onOpen}>
          {dataTexts.showSuggestedIndexes}
        </Button>
      </Group>
    </Alert>
  )
}

interface ExportProps {
  readonly storage: string
  readonly name: string
  /** What of it is listed, as the API takes it: `filters`, `query`, `sort` and `columns`. */
  readonly listed: Readonly<Record<string, string>>
}

/** The listed documents as a file; the button says how much has come. */
function ExportDocuments({ storage, name, listed }: ExportProps) {
  const [read, setRead] = useState<number>()
  const run = async (format: 'csv' | 'xlsx' | 'ndjson') => {
    setRead(0)
    try {
      const { columns, ...search } = listed
      const isTable = format !== 'ndjson'
      const query = {
        ...search,
        ...(isTable && { references: 'name' }),
        ...(isTable && columns !== undefined && { columns }),
      }
      const reply = await send('GET', `/_system/storages/${storage}/documents/export`, {
        query: { ...query, format },
      })
      const parts: Uint8Array<ArrayBuffer>[] = []
      let size = 0
      for await (const part of reply.body ?? []) {
        parts.push(part)
        size += part.length
        setRead(size)
      }
      saveFile(fileName(name, format), new Blob(parts, { type: reply.headers.get('content-type') ?? '' }))
    } catch (error) {
      notifyFailed(transferTexts.couldNotExportDocuments, error)
    } finally {
      setRead(undefined)
    }
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          disabled={read !== undefined}
        >
          {read === undefined ? transferTexts.export : bytes(read)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void run('csv')}>{transferTexts.csv}</Menu.Item>
        <Menu.Item onClick={() => void run('xlsx')}>{transferTexts.xlsx}</Menu.Item>
        <Menu.Item onClick={() => void run('ndjson')}>{transferTexts.ndjson}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

interface SavedImportProps {
  readonly storage: string
  readonly onOpen: () => void
}

/** Says that lines of a file wait to be mended; nothing while there are none. */
function SavedImportNotice({ storage, onOpen }: SavedImportProps) {
  const savedImport = useSavedImport(storage)
  if (!savedImport || (savedImport.lines.length === 0 && !savedImport.isPending)) return null
  const count = savedImport.lines.length
  return (
    <Alert color="sand" variant="light" p="xs" mb="sm">
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {transferTexts.linesWait(count.toLocaleString(), count, savedImport.draft.file.name)}
        </Text>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => dismissImport(storage)}>
            {transferTexts.dismiss}
          </Button>
          <Button size="compact-sm" variant="default" onClick={onOpen}>
            {transferTexts.show}
          </Button>
        </Group>
      </Group>
    </Alert>
  )
}
