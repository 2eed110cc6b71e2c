import { Select, TagsInput } from '@mantine/core'
import { useState } from 'react'
import classes from './properties.module.css'

const choices = [
  { value: '*public', label: 'Everyone (public)' },
  { value: '*loggedin', label: 'Signed-in users' },
  { value: 'own', label: 'Users who hold one of these scopes' },
]

const words = {
  http: {
    label: 'Who may call it',
    own: 'Any of them opens the endpoint. Other callers get 404.',
  },
  page: {
    label: 'Who may open it',
    own: 'Any of them opens the page. Other visitors are asked to sign in, or get a message that their account lacks the scope.',
  },
} as const

interface ScopesFieldProps {
  /** What the trigger is. */
  readonly on: keyof typeof words
  readonly scopes: readonly string[]
  readonly onChange: (scopes: string[]) => void
}

/** Who may call an endpoint, or open a page. */
export function ScopesField({ on, scopes, onChange }: ScopesFieldProps) {
  const own = scopes.filter((scope) => !scope.startsWith('*'))
  const is =
    scopes.length === 0 || scopes.includes('*public')
      ? '*public'
      : scopes.includes('*loggedin')
        ? '*loggedin'
        : 'own'
  const [wantsOwn, setWantsOwn] = useState(is === 'own')
  const shown = wantsOwn ? 'own' : is
  return (
    <div className={classes.section}>
      <Select
        size="xs"
        label={words[on].label}
        data={choices}
        value={shown}
        allowDeselect={false}
        onChange={(next) => {
          setWantsOwn(next === 'own')
          if (next !== null && next !== 'own') onChange([next])
        }}
      />
      {shown === 'own' ? (
        <TagsInput
          size="xs"
          label="Scopes"
          description={words[on].own}
          placeholder="editors, then Enter"
          value={[...own]}
          onChange={(next) => onChange(next)}
          acceptValueOnBlur
        />
      ) : null}
    </div>
  )
}
