import { Select, TagsInput } from '@mantine/core'
import { useState } from 'react'
import classes from './properties.module.css'

const choices = [
  { value: '*public', label: 'Everybody' },
  { value: '*loggedin', label: 'Whoever is signed in' },
  { value: 'own', label: 'Who holds one of these scopes' },
]

interface ScopesFieldProps {
  readonly scopes: readonly string[]
  readonly onChange: (scopes: string[]) => void
}

/** Who may call an endpoint. */
export function ScopesField({ scopes, onChange }: ScopesFieldProps) {
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
        label="Who may call it"
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
          description="Any of them opens the endpoint. Everybody else gets 404."
          placeholder="editors, then Enter"
          value={[...own]}
          onChange={(next) => onChange(next)}
          acceptValueOnBlur
        />
      ) : null}
    </div>
  )
}
