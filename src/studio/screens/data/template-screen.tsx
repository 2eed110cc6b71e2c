import { Button, SimpleGrid, Stack, Tabs, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { Template } from '../../../shared/api/blueprints/templates.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { saveChanges } from '../../api/save-changes.ts'
import { confirm } from '../../controls/confirm.ts'
import { fieldMessage } from '../../controls/field-errors.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice, FailedScreen, LoadingScreen } from '../../controls/states.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { rulesTexts } from '../../texts/data.ts'
import type { ScreenProps } from '../screen-props.ts'

const about = {
  content: rulesTexts.layoutHelp,
  css: rulesTexts.styleHelp,
  js: '',
} as const

const parts = { content: rulesTexts.layout, css: 'CSS', js: rulesTexts.javascript } as const

const parent = { href: '/data/templates', label: rulesTexts.pageTemplates } as const

export function TemplateScreen({ params }: ScreenProps) {
  const guid = params.guid ?? ''
  const isNew = guid === 'new'
  const { data, error, refetch } = useQuery({
    queryKey: ['templates', 'one', guid],
    queryFn: ({ signal }) => call<Template>('GET', `/blueprinttemplates/${guid}`, { signal }),
    enabled: !isNew,
  })
  if (isNew) return <Editor />
  if (error)
    return (
      <FailedScreen error={error} title={rulesTexts.couldNotLoadTemplate} parent={parent} onRetry={refetch} />
    )
  return data ? <Editor key={guid} template={data} /> : <LoadingScreen />
}

function Editor({ template }: { readonly template?: Template }) {
  const [, go] = useLocation()
  const { name = '', description = '', content = '', css = '', js = '' } = template ?? {}
  const { draft, shown, set, saved } = useDraft({ name, description, content, css, js })
  const save = useMutation({
    mutationFn: (body: typeof draft) =>
      template
        ? saveChanges<Template>(`/blueprinttemplates/${template._meta.guid}`, body, shown)
        : call<Template>('POST', '/blueprinttemplates', { body }),
    onSuccess: async ({ _meta }, sent) => {
      notifyDone(rulesTexts.saved)
      await queryClient.invalidateQueries({ queryKey: ['templates'] })
      saved(sent)
      if (!template) go(`/data/templates/${_meta.guid}`, { replace: true })
    },
  })
  useShortcut({ keys: 'mod+s', label: rulesTexts.save, group: rulesTexts.template, whileTyping: true }, () =>
    save.mutate(draft),
  )
  return (
    <>
      <ScreenHead title={template?.name ?? rulesTexts.newTemplate} parent={parent}>
        {template ? <RemoveTemplate template={template} /> : null}
        <Button loading={save.isPending} onClick={() => save.mutate(draft)}>
          {template ? rulesTexts.save : rulesTexts.create}
        </Button>
      </ScreenHead>
      <Stack gap="md" maw={960}>
        <ErrorNotice error={save.error} title={rulesTexts.couldNotSaveTemplate} />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label={rulesTexts.name}
            required
            value={draft.name}
            error={fieldMessage(save.error, 'name')}
            onChange={(event) => set('name', event.currentTarget.value)}
          />
          <TextInput
            label={rulesTexts.description}
            value={draft.description}
            error={fieldMessage(save.error, 'description')}
            onChange={(event) => set('description', event.currentTarget.value)}
          />
        </SimpleGrid>
        <Tabs defaultValue="content">
          <Tabs.List mb="sm">
            {Object.entries(parts).map(([part, label]) => (
              <Tabs.Tab key={part} value={part}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {(Object.keys(parts) as (keyof typeof parts)[]).map((part) => (
            <Tabs.Panel key={part} value={part}>
              <Textarea
                aria-label={parts[part]}
                description={about[part]}
                autosize
                minRows={16}
                maxRows={32}
                spellCheck={false}
                styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
                value={draft[part]}
                error={fieldMessage(save.error, part)}
                onChange={(event) => set(part, event.currentTarget.value)}
              />
            </Tabs.Panel>
          ))}
        </Tabs>
      </Stack>
    </>
  )
}

function RemoveTemplate({ template: { _meta, name } }: { readonly template: Template }) {
  const [, go] = useLocation()
  const ask = () =>
    confirm({
      title: rulesTexts.removeTheTemplate(name),
      text: rulesTexts.removeTheTemplateText,
      action: rulesTexts.remove,
      run: async () => {
        await call('DELETE', `/blueprinttemplates/${_meta.guid}`)
        await queryClient.invalidateQueries({ queryKey: ['templates'] })
        go('/data/templates')
      },
    })
  return (
    <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={ask}>
      {rulesTexts.remove}
    </Button>
  )
}
