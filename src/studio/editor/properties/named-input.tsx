import { Anchor, Autocomplete } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ComponentType, lazy, useState } from 'react'
import type { JsonValue } from '../../../shared/json.ts'
import type { NamedType } from '../../../shared/pin-type.ts'
import { namesOf } from '../../api/named-records.ts'
import { connections, secrets } from '../../api/operate.ts'
import { storageNamesQuery } from '../../api/storages.ts'
import { FetchedDialog } from '../../controls/form-dialog.tsx'
import type { NewNamedProps } from '../../screens/operate/named/named-screen.tsx'
import { propertiesTexts } from '../../texts/properties.ts'
import { LazyInput } from './lazy-input.tsx'
import { useFieldFocus } from './use-field-focus.ts'

const SecretDialog = lazy(async () => ({
  default: (await import('../../screens/operate/named/secret-dialog.tsx')).SecretDialog,
}))

const ConnectionDialog = lazy(async () => ({
  default: (await import('../../screens/operate/named/connection-dialog.tsx')).ConnectionDialog,
}))

interface NamedInputProps {
  readonly pin: string
  readonly type: NamedType
  readonly value: JsonValue | undefined
  readonly onChange: (value: JsonValue | undefined) => void
}

const nouns: Readonly<Record<NamedType, string>> = { secret: 'secret', http_connection: 'connection' }

/** The name of a secret or a connection: one that is there, or one that will be. */
export function NamedInput({ type, ...rest }: NamedInputProps) {
  return type === 'secret' ? <SecretInput {...rest} /> : <ConnectionInput {...rest} />
}

function SecretInput(props: Omit<NamedInputProps, 'type'>) {
  const { data } = useQuery(secrets.all)
  const made = { newLabel: propertiesTexts.newSecret, Dialog: SecretDialog }
  return <MadeInput {...props} {...made} noun={nouns.secret} names={data && namesOf(data)} />
}

function ConnectionInput(props: Omit<NamedInputProps, 'type'>) {
  const { data } = useQuery(connections.all)
  const made = { newLabel: propertiesTexts.newConnection, Dialog: ConnectionDialog }
  return <MadeInput {...props} {...made} noun={nouns.http_connection} names={data && namesOf(data)} />
}

interface MadeInputProps extends Omit<NameInputProps, 'names'> {
  /** Undefined while they are fetched, and where they may not be read. */
  readonly names: readonly string[] | undefined
  readonly newLabel: (name: string) => string
  readonly Dialog: ComponentType<NewNamedProps>
}

/** What is missing is made here, and its name is in the field then. */
function MadeInput({ names, newLabel, Dialog, ...props }: MadeInputProps) {
  const [isNew, setNew] = useState(false)
  const name = typeof props.value === 'string' ? props.value : ''
  const close = () => setNew(false)
  return (
    <>
      <NameInput {...props} names={names ?? []} />
      {names && !names.includes(name) ? (
        <Anchor component="button" type="button" size="xs" onClick={() => setNew(true)}>
          {newLabel(name)}
        </Anchor>
      ) : null}
      {isNew ? (
        <FetchedDialog onClose={close}>
          <Dialog guid="new" name={name} onClose={close} onCreated={props.onChange} />
        </FetchedDialog>
      ) : null}
    </>
  )
}

/** The name of a storage: one that is there, or one that will be. */
export function StorageInput(props: Omit<NamedInputProps, 'type'>) {
  const { data = [] } = useQuery({ ...storageNamesQuery, retry: false })
  return <NameInput {...props} noun={propertiesTexts.storage} names={data.map(({ name }) => name)} />
}

interface NameInputProps extends Omit<NamedInputProps, 'type'> {
  readonly noun: string
  readonly names: readonly string[]
}

function NameInput({ pin, noun, names, value, onChange }: NameInputProps) {
  const ref = useFieldFocus<HTMLInputElement>(pin)
  const commit = (text: string) => onChange(text === '' ? undefined : text)
  return (
    <LazyInput
      value={typeof value === 'string' ? value : ''}
      onCommit={commit}
      render={({ onChange: write, ...rest }) => (
        <Autocomplete
          {...rest}
          ref={ref}
          size="xs"
          aria-label={propertiesTexts.valueOf(pin)}
          placeholder={propertiesTexts.nameOfA(noun)}
          data={[...names]}
          onChange={(text) => write({ currentTarget: { value: text } } as Parameters<typeof write>[0])}
          onOptionSubmit={commit}
        />
      )}
    />
  )
}
