import { Button, Menu, Switch, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import type { ViewRecord } from '../../../../shared/api/data/views.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call } from '../../../api/request.ts'
import { saveChanges } from '../../../api/save-changes.ts'
import { confirm } from '../../../controls/confirm.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { useDraft } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { notifyDone, notifyFailed } from '../../../controls/notify.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { viewAddress, wordsOfView } from './view-address.ts'

interface SaveViewProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly submit: (fields: { readonly name: string; readonly shared: boolean }) => Promise<unknown>
}

const newView = { name: '', shared: false }

function SaveViewDialog({ opened, onClose, submit }: SaveViewProps) {
  const form = useDraft(newView)
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={documentsTexts.saveNewView}
      action={documentsTexts.save}
      submit={async () => {
        await submit(form.draft)
        form.saved(form.draft)
      }}
    >
      <Fields {...form} />
    </FormDialog>
  )
}

function Fields({ draft, set }: ReturnType<typeof useDraft<typeof newView>>) {
  const error = useFieldError()
  return (
    <>
      <TextInput
        label={documentsTexts.name}
        required
        data-autofocus
        value={draft.name}
        error={error('name')}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <Switch
        label={documentsTexts.shared}
        description={documentsTexts.sharedHelp}
        checked={draft.shared}
        onChange={(event) => set('shared', event.currentTarget.checked)}
      />
    </>
  )
}

/** Saved views of a storage: which is shown, and what can be done with it. `storage`: its guid. */
export function ViewsMenu({ storage }: { readonly storage: string }) {
  const [words, setWords] = useSearchParams()
  const [isSaving, saving] = useDisclosure(false)
  const { data: views = [] } = useQuery({ ...viewsQuery(storage), retry: false })
  const current = views.find(({ _meta }) => _meta.guid === words.get('view'))
  const address = viewAddress(words)
  const isChanged = current !== undefined && current.address !== address
  const show = ({ _meta, address: of }: ViewRecord) => setWords(wordsOfView(_meta.guid, of))
  const store = (current: ViewRecord) =>
    saveAddress(storage, current, address).then(
      () => notifyDone(documentsTexts.viewSaved),
      (error) => notifyFailed(documentsTexts.couldNotSaveView, error),
    )
  const remove = ({ _meta, name }: ViewRecord) =>
    confirm({
      title: documentsTexts.deleteTheView(name),
      text: documentsTexts.deleteTheViewText,
      action: documentsTexts.delete,
      run: async () => {
        await removeView(storage, _meta.guid)
        setWords({})
      },
    })
  return (
    <>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="panel" size={16} />}>
            {current ? `${current.name}${isChanged ? documentsTexts.changedText : ''}` : documentsTexts.views}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setWords({})}>{documentsTexts.allDocuments}</Menu.Item>
          {views.map((view) => (
            <ViewItem key={view._meta.guid} view={view} onShow={() => show(view)} />
          ))}
          <Menu.Divider />
          <Menu.Item onClick={saving.open}>{documentsTexts.saveNewView}</Menu.Item>
          {isChanged ? (
            <Menu.Item onClick={() => void store(current)}>
              {documentsTexts.saveChangesTo(current.name)}
            </Menu.Item>
          ) : null}
          {current ? (
            <Menu.Item color="red" onClick={() => remove(current)}>
              {documentsTexts.deleteNamed(current.name)}
            </Menu.Item>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <SaveViewDialog
        opened={isSaving}
        onClose={saving.close}
        submit={async (fields) => show(await createView(storage, { ...fields, address }))}
      />
    </>
  )
}

function ViewItem({ view, onShow }: { readonly view: ViewRecord; readonly onShow: () => void }) {
  return (
    <Menu.Item
      onClick={onShow}
      rightSection={
        view.shared ? (
          <Text size="xs" c="dimmed">
            {documentsTexts.sharedText}
          </Text>
        ) : null
      }
    >
      {view.name}
    </Menu.Item>
  )
}

const pathOf = (storage: string) => `/_system/storages/${storage}/views`

const viewsQuery = (storage: string) =>
  queryOptions({
    queryKey: ['views', storage],
    queryFn: ({ signal }) => call<readonly ViewRecord[]>('GET', pathOf(storage), { signal }),
  })

interface ViewFields {
  readonly name: string
  readonly shared: boolean
  readonly address: string
}

async function createView(storage: string, body: ViewFields): Promise<ViewRecord> {
  const saved = await call<ViewRecord>('POST', pathOf(storage), { body })
  await queryClient.invalidateQueries({ queryKey: ['views', storage] })
  return saved
}

/** Shows the view differently from now on, to all who share it. */
async function saveAddress(storage: string, view: ViewRecord, address: string): Promise<void> {
  const { guid } = view._meta
  await saveChanges<ViewRecord>(`${pathOf(storage)}/${guid}`, { address }, view, {
    read: async () => {
      const views = await call<readonly ViewRecord[]>('GET', pathOf(storage))
      return views.find(({ _meta }) => _meta.guid === guid) ?? view
    },
  })
  await queryClient.invalidateQueries({ queryKey: ['views', storage] })
}

async function removeView(storage: string, guid: string): Promise<void> {
  await call('DELETE', `${pathOf(storage)}/${guid}`)
  await queryClient.invalidateQueries({ queryKey: ['views', storage] })
}
