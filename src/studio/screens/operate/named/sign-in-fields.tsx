import { Autocomplete, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { namesOf } from '../../../api/named-records.ts'
import { secrets } from '../../../api/secrets.ts'
import { namedTexts } from '../../../texts/named.ts'
import { type ConnectionDraft, type SignInKind, signInLabels } from './connection-draft.ts'

interface SignInFieldsProps {
  readonly draft: ConnectionDraft
  readonly set: <Name extends keyof ConnectionDraft>(name: Name, value: ConnectionDraft[Name]) => void
}

type TextName = 'username' | 'header' | 'tokenUrl' | 'clientId' | 'scope'

interface TextField {
  readonly name: TextName
  readonly label: string
  readonly placeholder?: string
  readonly optional?: true
}

const fields: Readonly<Record<SignInKind, readonly TextField[]>> = {
  none: [],
  bearer: [],
  basic: [{ name: 'username', label: namedTexts.userName }],
  header: [{ name: 'header', label: namedTexts.header, placeholder: 'x-api-key' }],
  oauth2: [
    { name: 'tokenUrl', label: namedTexts.addressOfTokens, placeholder: 'https://shop.example/token' },
    { name: 'clientId', label: namedTexts.clientId },
    { name: 'scope', label: namedTexts.scope, optional: true },
  ],
}

const kinds: readonly SignInKind[] = ['none', 'bearer', 'basic', 'header', 'oauth2']

/** How requests over a connection are signed in. The secret is named: its value is set under Secrets. */
export function SignInFields({ draft, set }: SignInFieldsProps) {
  const { data = [] } = useQuery(secrets.all)
  return (
    <>
      <Select
        label={namedTexts.signIn}
        allowDeselect={false}
        data={kinds.map((kind) => ({ value: kind, label: signInLabels[kind] }))}
        value={draft.kind}
        onChange={(chosen) => set('kind', kinds.find((kind) => kind === chosen) ?? 'none')}
      />
      {fields[draft.kind].map(({ name, label, placeholder, optional }) => (
        <TextInput
          key={name}
          label={label}
          placeholder={placeholder}
          required={!optional}
          value={draft[name]}
          onChange={(event) => set(name, event.currentTarget.value)}
        />
      ))}
      {draft.kind === 'none' ? null : (
        <Autocomplete
          label={namedTexts.secret}
          description={namedTexts.secretHelp}
          required
          data={[...namesOf(data)]}
          value={draft.secret}
          onChange={(name) => set('secret', name)}
        />
      )}
    </>
  )
}
