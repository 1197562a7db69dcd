import { has } from '@dsh/testkit'
import { describe, expect, it } from 'vitest'
import { ask, open, requests } from './program.ts'

describe.skipIf(!has('tmux'))('models and efforts', { timeout: 60_000 }, () => {
  it('goes on with the model and the effort that were chosen last, asked for or not', async () => {
    const session = await open([{ text: 'one' }, { text: 'two' }, { text: 'three' }, { text: 'four' }])
    await ask(session.tmux, 'hello')
    await session.tmux.waitFor('one')
    await ask(session.tmux, '/model deepseek-v4-pro')
    await session.tmux.waitFor('model: deepseek-v4-pro')
    await ask(session.tmux, '/effort max')
    await session.tmux.waitFor('effort: max')
    await session.tmux.keys('C-d')
    await session.tmux.waitFor('[ended 0]')

    const second = await session.again('-c')
    await second.waitFor('deepseek-v4-pro (max) · workspace-write/ask · sandbox')
    await ask(second, 'again')
    await second.waitFor('two')
    expect(requests(session.server)[1]?.body).toMatchObject({ model: 'deepseek-v4-pro', reasoning_effort: 'max' })
    await second.keys('C-d')
    await second.waitFor('[ended 0]')

    const third = await session.again('-c')
    await third.waitFor('deepseek-v4-pro (max)')
    await ask(third, '/fork')
    await third.waitFor('this is a copy')
    await ask(third, 'in the copy')
    await third.waitFor('three')
    expect(requests(session.server)[2]?.body).toMatchObject({ model: 'deepseek-v4-pro', reasoning_effort: 'max' })
    await third.keys('C-d')
    await third.waitFor('[ended 0]')

    // The command line wins, and another model does not inherit the effort.
    const fourth = await session.again('-c -m deepseek-v4-flash')
    await ask(fourth, 'with another')
    await fourth.waitFor('four')
    expect(requests(session.server)[3]?.body).toMatchObject({ model: 'deepseek-v4-flash', reasoning_effort: 'high' })
  })

  it('says that a model is none of the list, and asks for it all the same', async () => {
    const { tmux, server } = await open([{ text: 'fine' }])
    await ask(tmux, '/model deepseek-v4-pro')
    expect(await tmux.waitFor('model: deepseek-v4-pro')).not.toContain('not in the list')
    // What stands before a slash is a provider only where there is one of that name.
    await ask(tmux, '/model my/own')
    await tmux.waitFor('model: my/own (not in the list of models; it is sent to the server as it is)')
    await ask(tmux, 'hello')
    await tmux.waitFor('fine')
    expect(requests(server)[0]?.body.model).toBe('my/own')
  })

  it.each(['', '--plain '])('says so of the model of a start too (%j)', async (mode) => {
    const { tmux, server } = await open([{ text: 'fine' }], { args: `${mode}-m my/own` })
    await tmux.waitFor('model: my/own (not in the list of models; it is sent to the server as it is)')
    await ask(tmux, 'hello')
    await tmux.waitFor('fine')
    expect(requests(server)[0]?.body.model).toBe('my/own')
  })

  it('offers the efforts of the model, and takes no other', async () => {
    const { tmux, server } = await open([{ text: 'fine' }], {
      args: '--patch p.yml -m odd:low',
      files: {
        'p.yml': '- id: llm-deepseek\n  merge: { models: [{ id: odd, reasoningEfforts: [low, max] }, { id: even }] }\n',
      },
    })
    await tmux.waitFor('odd (low)')
    await ask(tmux, '/effort high')
    await tmux.waitFor('model "odd" does not support effort "high" (supported: low, max)')
    await ask(tmux, '/effort')
    const screen = await tmux.waitFor('type to search')
    expect(screen).toMatch(/low\n\s+max\n/)
    await tmux.keys('Down', 'Enter')
    await tmux.waitFor('odd (max)')
    await ask(tmux, 'hello')
    await tmux.waitFor('fine')
    expect(requests(server)[0]?.body).toMatchObject({ model: 'odd', reasoning_effort: 'max' })
  })

  it.each(['', '--plain '])('refuses an effort that the model of a start does not know (%j)', async (mode) => {
    const { tmux } = await open([{ text: 'never' }], { args: `${mode}--effort nope`, ready: '[ended 2]' })
    expect(await tmux.screen()).toContain(
      'error: model "deepseek-v4-flash" does not support effort "nope" (supported: off, low, high, max)',
    )
  })

  it.each(['', '--plain '])('says what to check while a server cannot be reached (%j)', async (mode) => {
    const { tmux } = await open([], { args: mode, env: { DEEPSEEK_BASE_URL: 'http://127.0.0.1:9' } })
    await ask(tmux, 'hello')
    const screen = await tmux.waitFor('failed again; retry 2 of 5 in')
    expect(screen).toMatch(/request failed \(TRANSPORT: .*127\.0\.0\.1:9.*\s.*retry 1 of 5 in/)
    if (mode === '') await tmux.waitFor(/retry \d of 5 in .* · esc cancels · check the network and DEEPSEEK_BASE_URL/)
    await tmux.keys(mode === '' ? 'Escape' : 'C-c')
    await tmux.waitFor('interrupted')
  })
})
