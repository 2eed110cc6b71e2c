import { Button, Tabs } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { storageQuery } from '../../../api/storages.ts'
import { useOpened, useTabTitle } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { useListAddress } from '../../../controls/lists/list-address.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { FailedScreen, LoadingScreen } from '../../../controls/states.tsx'
import { dataTexts } from '../../../texts/data.ts'
import { MakeApiDialog } from '../../blueprints/make-api-dialog.tsx'
import { MakePagesDialog } from '../../blueprints/make-pages-dialog.tsx'
import type { ScreenProps } from '../../screen-props.ts'
import { AdviceDrawer } from '../advice-drawer.tsx'
import { AdviceNotice } from '../advice-notice.tsx'
import { StorageFields } from '../fields/storage-fields.tsx'
import { StorageMenu } from '../storage-menu.tsx'
import { ExportDocuments } from '../transfer/export-documents.tsx'
import { ImportDocumentsDialog } from '../transfer/import-documents-dialog.tsx'
import { SavedImportNotice } from '../transfer/saved-import-notice.tsx'
import { StorageDocuments } from './storage-documents.tsx'
import { useDocumentList } from './use-document-list.ts'

const parent = { href: '/data', label: dataTexts.storages } as const

/** A storage: its documents, and beside them its fields. */
export function DocumentsScreen({ params }: ScreenProps) {
  const guid = params.storage ?? ''
  const { data: storage, error, refetch } = useQuery(storageQuery(guid))
  const [opened, open] = useOpened()
  const [words, setWords] = useSearchParams()
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
          <StorageDocuments key={guid} storage={storage} />
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
