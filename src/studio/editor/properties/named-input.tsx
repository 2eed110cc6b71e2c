import { Anchor, Autocomplete } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, useState } from 'react'
import type { JsonValue } from '../../../shared/json.ts'
import type { NamedType } from '../../../shared/pin-type.ts'
import { namesOf } from '../../api/named-records.ts'
import { connections, secrets } from '../../api/operate.ts'
import { storageNamesQuery } from '../../api/storages.ts'
import { FetchedDialog } from '../../controls/form-dialog.tsx'
import { propertiesTexts } from '../../texts/properties.ts'
import { LazyInput } from './lazy-input.tsx'
import { useFieldFocus } from './use-field-focus.ts'

const SecretDialog = lazy(async () => ({
  default: (await import('../../screens/operate/named/secret-dialog.tsx')).SecretDialog,
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
  const [isNew, setNew] = useState(false)
  const name = typeof props.value === 'string' ? props.value : ''
  const names = namesOf(data ?? [])
  return (
    <>
      <NameInput {...props} noun={nouns.secret} names={names} />
      {data && !names.includes(name) ? (
        <Anchor component="button" type="button" size="xs" onClick={() => setNew(true)}>
          {propertiesTexts.newSecret(name)}
        </Anchor>
      ) : null}
      {isNew ? (
        <FetchedDialog onClose={() => setNew(false)}>
          <SecretDialog guid="new" name={name} onClose={() => setNew(false)} />
        </FetchedDialog>
      ) : null}
    </>
  )
}

function ConnectionInput(props: Omit<NamedInputProps, 'type'>) {
  const { data } = useQuery(connections.all)
  const name = typeof props.value === 'string' ? props.value : ''
  const names = namesOf(data ?? [])
  return (
    <>
      <NameInput {...props} noun={nouns.http_connection} names={names} />
      {data && !names.includes(name) ? (
        // In a tab of its own: what is being built stays. The warning goes when this tab is looked at again.
        <Anchor href="/studio/operate/connections?open=new" target="_blank" size="xs">
          {propertiesTexts.newConnection}
        </Anchor>
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
