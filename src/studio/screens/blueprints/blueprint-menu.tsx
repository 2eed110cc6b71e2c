import { ActionIcon, Menu, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { forgetBlueprints, setActive } from '../../api/blueprints.ts'
import { call } from '../../api/request.ts'
import { saveChanges } from '../../api/save-changes.ts'
import { confirm } from '../../controls/confirm.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { notifyAbout, notifyDone, notifyFailed } from '../../controls/notify.ts'
import { fileName, saveFile } from '../../controls/save-file.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'

export function BlueprintMenu({ blueprint }: { readonly blueprint: Blueprint }) {
  const { name, active } = blueprint
  const [isEditing, edit] = useDisclosure(false)
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={blueprintsTexts.moreAbout(name)}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {active ? (
            <Menu.Item
              leftSection={<Icon name="pause" size={16} />}
              onClick={() => askToDeactivate(blueprint)}
            >
              {blueprintsTexts.deactivate}
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<Icon name="play" size={16} />} onClick={() => activate(blueprint)}>
              {blueprintsTexts.activate}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={edit.open}>
            {blueprintsTexts.nameAndDescription}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="copy" size={16} />} onClick={() => duplicate(blueprint)}>
            {blueprintsTexts.duplicate}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="download" size={16} />} onClick={() => save(blueprint)}>
            {blueprintsTexts.exportAsAFile}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<Icon name="trash" size={16} />}
            disabled={active}
            onClick={() => askToRemove(blueprint)}
          >
            {active ? blueprintsTexts.removeDeactivateFirst : blueprintsTexts.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isEditing ? <EditBlueprintDialog onClose={edit.close} blueprint={blueprint} /> : null}
    </>
  )
}

async function activate({ _meta, name }: Blueprint): Promise<void> {
  try {
    await setActive(_meta.guid, true)
    notifyDone(blueprintsTexts.isActive(name))
  } catch (error) {
    notifyFailed(blueprintsTexts.wasNotActivated(name), error)
  }
}

function askToDeactivate({ _meta, name }: Blueprint): void {
  confirm({
    title: blueprintsTexts.deactivateTitle(name),
    text: blueprintsTexts.deactivateText,
    action: blueprintsTexts.deactivate,
    run: () => setActive(_meta.guid, false),
  })
}

/** Files are made and read by few who look at the list. */
const transfer = () => import('../../api/blueprint-transfer.ts')

async function save(blueprint: Blueprint): Promise<void> {
  try {
    const { exportBlueprintFile } = await transfer()
    const text = `${JSON.stringify(await exportBlueprintFile(blueprint), null, 2)}\n`
    saveFile(fileName(blueprint.name, 'blueprint.json'), new Blob([text], { type: 'application/json' }))
  } catch (error) {
    notifyFailed(blueprintsTexts.wasNotExported(blueprint.name), error)
  }
}

/** A copy of what is saved, inactive: two blueprints cannot have the same addresses live. */
async function duplicate(blueprint: Blueprint): Promise<void> {
  try {
    const { exportBlueprintFile, importBlueprintFile } = await transfer()
    const file = await exportBlueprintFile(blueprint)
    const name = blueprintsTexts.copy(blueprint.name.slice(0, LONGEST_NAME))
    await importBlueprintFile(
      { ...file, name },
      {
        stays: (part) => notifyAbout(blueprintsTexts.notAllWasUndone, blueprintsTexts.leftOver(part)),
      },
    )
    notifyDone(blueprintsTexts.duplicated(name))
  } catch (error) {
    notifyFailed(blueprintsTexts.wasNotDuplicated(blueprint.name), error)
  }
}

/** Names have at most 200 characters. */
const LONGEST_NAME = 190

function askToRemove({ _meta, name }: Blueprint): void {
  confirm({
    title: blueprintsTexts.removeTitle(name),
    text: blueprintsTexts.removeText,
    action: blueprintsTexts.remove,
    run: async () => {
      await call('DELETE', `/blueprints/${_meta.guid}`)
      await forgetBlueprints()
    },
  })
}

interface EditBlueprintProps {
  readonly onClose: () => void
  readonly blueprint: Blueprint
}

function EditBlueprintDialog({ onClose, blueprint }: EditBlueprintProps) {
  const { draft, shown, set } = useDraft(draftOf(blueprint))
  const submit = async () => {
    await saveChanges(`/blueprints/${blueprint._meta.guid}`, draft, shown)
    await forgetBlueprints()
  }
  return (
    <FormDialog opened onClose={onClose} title={blueprint.name} action={blueprintsTexts.save} submit={submit}>
      <BlueprintForm draft={draft} set={set} />
    </FormDialog>
  )
}

interface BlueprintDraft {
  readonly name: string
  readonly description: string
  readonly category: string
  readonly tags: readonly string[]
}

export const emptyBlueprint: BlueprintDraft = { name: '', description: '', category: '', tags: [] }

function draftOf({ name, description, category, tags }: Blueprint): BlueprintDraft {
  return { name, description, category, tags }
}

type Draft = ReturnType<typeof useDraft<BlueprintDraft>>

export function BlueprintForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  return (
    <>
      <TextInput
        label={blueprintsTexts.name}
        required
        maxLength={200}
        data-autofocus
        value={draft.name}
        error={error('name')}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <Textarea
        label={blueprintsTexts.description}
        description={blueprintsTexts.descriptionHelp}
        autosize
        minRows={2}
        value={draft.description}
        error={error('description')}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
      <TextInput
        label={blueprintsTexts.category}
        value={draft.category}
        error={error('category')}
        onChange={(event) => set('category', event.currentTarget.value)}
      />
      <TagsInput
        label={blueprintsTexts.tags}
        value={[...draft.tags]}
        error={error('tags')}
        onChange={(tags) => set('tags', tags)}
      />
    </>
  )
}
