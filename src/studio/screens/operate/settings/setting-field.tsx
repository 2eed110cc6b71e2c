import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { OptionSetting } from '../../../../shared/api/operate/settings.ts'
import { setSetting, unsetSetting } from '../../../api/settings.ts'
import { notifyDone } from '../../../controls/notify.ts'
import { settingsTexts } from '../../../texts/settings.ts'

/** The text of an option, saved with Enter or the button. The server says what is wrong with it. */
export function SettingField({ setting }: { readonly setting: OptionSetting }) {
  const { name, value, source, accepts } = setting
  const [text, setText] = useState(value ?? '')
  const save = useMutation({
    mutationFn: () => setSetting(name, text),
    onSuccess: () => notifyDone(settingsTexts.is(name, text.trim())),
  })
  const reset = useMutation({
    mutationFn: () => unsetSetting(name),
    onSuccess: () => notifyDone(settingsTexts.hasItsDefaultAgain(name)),
  })
  const failed = save.error ?? reset.error
  const field = {
    'aria-label': name,
    value: text,
    error: failed?.message,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => {
      save.reset()
      setText(event.currentTarget.value)
    },
  }
  const choices = choicesOf(accepts)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      {choices ? (
        <NativeSelect {...field} data={[...choices]} />
      ) : (
        <TextInput {...field} description={accepts} />
      )}
      <Group gap="xs" mt={6}>
        {text === value ? null : (
          <Button type="submit" size="compact-sm" loading={save.isPending}>
            {settingsTexts.save}
          </Button>
        )}
        {source === 'setting' ? (
          <Button
            size="compact-sm"
            variant="default"
            loading={reset.isPending}
            aria-label={settingsTexts.reset(name)}
            onClick={() => reset.mutate()}
          >
            {settingsTexts.resetTo(setting.default)}
          </Button>
        ) : null}
      </Group>
    </form>
  )
}

/** The words that are accepted, where there is nothing else. */
function choicesOf(accepts: string): readonly string[] | undefined {
  const words = accepts.split(', ')
  return words.length > 1 && words.every((word) => /^[a-z]+$/.test(word)) ? words : undefined
}
