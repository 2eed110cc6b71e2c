import { ActionIcon, Button, Group, Menu, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Passkey } from '../../../shared/api/people/passkeys.ts'
import { addPasskey, passkeysQuery, removePasskey, renamePasskey } from '../../api/credentials.ts'
import { confirm } from '../../controls/confirm.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { Icon } from '../../controls/icon.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/record-table.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { peopleTexts } from '../../texts/people.ts'
import { RecoveryCodes } from './second-factor.tsx'

const MOST = 10

/** The passkeys of the user who looks, or why there are none at this address. */
export function OwnPasskeys() {
  const { data, error } = useQuery(passkeysQuery)
  const [adding, setAdding] = useState(false)
  const [codes, setCodes] = useState<readonly string[]>([])
  const passkeys = data?.passkeys ?? []
  const problem = problemOf(data)
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2}>{peopleTexts.passkeys}</Title>
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={16} />}
          disabled={!data || problem !== '' || passkeys.length >= MOST}
          onClick={() => setAdding(true)}
        >
          {peopleTexts.addPasskey}
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {peopleTexts.passkeysAbout}
      </Text>
      {error ? <ErrorNotice error={error} title={peopleTexts.couldNotLoadPasskeys} /> : null}
      {problem === '' ? null : <Text size="sm">{problem}</Text>}
      {passkeys.length === 0 ? null : (
        <CardTable
          label={peopleTexts.passkeys}
          columns={columns}
          records={passkeys}
          keyOf={({ _meta }) => _meta.guid}
          minWidth={420}
        />
      )}
      {adding ? (
        <NameDialog
          title={peopleTexts.addPasskey}
          name=""
          onClose={() => setAdding(false)}
          submit={async (name) => setCodes(await addPasskey(name))}
        />
      ) : null}
      <RecoveryCodes codes={codes} onClose={() => setCodes([])} />
    </Stack>
  )
}

function problemOf(data: { readonly host: string; readonly unavailable: string } | undefined): string {
  if (!data) return ''
  if (data.unavailable !== '') return data.unavailable
  return data.host === location.hostname ? '' : peopleTexts.passkeysElsewhere(data.host)
}

const columns: readonly Column<Passkey>[] = [
  { id: 'name', label: peopleTexts.name, render: ({ name }) => name },
  { id: 'created', label: peopleTexts.added, width: 130, render: ({ created }) => <Time at={created} /> },
  {
    id: 'used',
    label: peopleTexts.lastUsed,
    width: 130,
    render: ({ last_used }) => <Time at={last_used} never={peopleTexts.never} />,
  },
  { id: 'actions', label: '', width: 48, render: (passkey) => <PasskeyActions passkey={passkey} /> },
]

function PasskeyActions({ passkey: { _meta, name } }: { readonly passkey: Passkey }) {
  const [renaming, setRenaming] = useState(false)
  const askToRemove = () =>
    confirm({
      title: peopleTexts.removeTitle(name),
      text: peopleTexts.removePasskeyText,
      action: peopleTexts.remove,
      run: () => removePasskey(_meta.guid),
    })
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={peopleTexts.actionsFor(name)}>
            <Icon name="more" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setRenaming(true)}>{peopleTexts.rename}</Menu.Item>
          <Menu.Item color="red" onClick={askToRemove}>
            {peopleTexts.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {renaming ? (
        <NameDialog
          title={peopleTexts.rename}
          name={name}
          onClose={() => setRenaming(false)}
          submit={(changed) => renamePasskey(_meta.guid, changed)}
        />
      ) : null}
    </>
  )
}

interface NameDialogProps {
  readonly title: string
  readonly name: string
  readonly onClose: () => void
  readonly submit: (name: string) => Promise<unknown>
}

function NameDialog({ title, name: before, onClose, submit }: NameDialogProps) {
  const [name, setName] = useState(before)
  return (
    <FormDialog opened onClose={onClose} title={title} action={title} submit={() => submit(name)}>
      <NameInput value={name} onChange={setName} />
    </FormDialog>
  )
}

function NameInput(props: { readonly value: string; readonly onChange: (name: string) => void }) {
  const error = useFieldError()
  return (
    <TextInput
      label={peopleTexts.name}
      description={peopleTexts.passkeyNameHelp}
      required
      maxLength={64}
      data-autofocus
      value={props.value}
      error={error('name')}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  )
}
