// The plugin through which opencode asks portcullis. `portcullis init opencode` writes it; do not change it by hand.
//
// Before a tool runs, the call is put to the program below. It runs only if the program allows it or has nothing to say
// against it. An answer that is late, broken or missing and a program that cannot be started stop the call.

import { spawn } from "node:child_process"

// The program and its arguments; started without a shell.
const COMMAND = ["@COMMAND@"]

// How long an answer may take, in milliseconds. The program itself answers within 90 seconds.
const LONGEST_WAIT = 95_000
const LONGEST_WAIT_FOR_A_FACT = 10_000
const LONGEST_WAIT_FOR_OPENCODE = 3_000

// The longest answer that is read, in characters.
const LONGEST_ANSWER = 1_000_000

// How many calls and sessions are remembered.
const MOST_REMEMBERED = 1_000

// The tools that change files; later calls may depend on what they wrote.
const EDITING_TOOLS = new Set(["apply_patch", "edit", "write"])

const failure = (problem) => ({ decision: "deny", reason: `portcullis: ${problem}; blocked to be safe` })

// Starts the program, hands it a question and returns what it prints, with its exit code.
const run = (question, wait) =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(question)
    const child = spawn(COMMAND[0], COMMAND.slice(1), {
      cwd: question.directory,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    })
    let output = ""
    const giveUp = (problem) => {
      clearTimeout(timer)
      child.kill("SIGKILL")
      reject(new Error(problem))
    }
    const timer = setTimeout(() => giveUp("no answer in time"), wait)
    child.on("error", (error) => giveUp(`the program cannot be started (${error.code ?? "unknown error"})`))
    // A program that ends early is judged by what it printed.
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part) => {
      output += part
      if (output.length > LONGEST_ANSWER) giveUp("the answer is too long")
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
    child.stdin.end(text)
  })

// Returns what the program says to a call. Whatever goes wrong is a denial.
const judge = async (question) => {
  try {
    const { code, output } = await run(question, LONGEST_WAIT)
    const answer = JSON.parse(output)
    const isUnderstood =
      answer !== null &&
      typeof answer === "object" &&
      ["allow", "ask", "contained", "deny", "silence"].includes(answer.decision) &&
      typeof answer.reason === "string"
    if (!isUnderstood) return failure("the answer is not understood")
    // A contained call runs as the answer says, or not at all.
    if (answer.decision === "contained" && typeof answer.args?.command !== "string")
      return failure("the answer is not understood")
    if (code !== 0 && answer.decision !== "deny") return failure(`the program ended with exit code ${code}`)
    return answer
  } catch (error) {
    const problem = error instanceof SyntaxError ? "the answer is not JSON" : error?.message
    return failure(problem || "the permission check failed")
  }
}

// Tells the program what happened. Nothing waits for what it says, and a failure changes nothing.
const tell = (fact) => run(fact, LONGEST_WAIT_FOR_A_FACT).catch(() => {})

const remember = (memory, key, value) => {
  if (memory.size >= MOST_REMEMBERED) memory.delete(memory.keys().next().value)
  memory.set(key, value)
}

// Asks opencode itself; `undefined` if it does not answer.
const askOpencode = async (request) => {
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, LONGEST_WAIT_FOR_OPENCODE)
  })
  try {
    return (await Promise.race([request(), late]))?.data
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

export const Portcullis = async ({ client, directory, worktree }) => {
  // The session that a session was started by, `null` for one that the user started.
  const parents = new Map()
  // The calls that were let through, by id.
  const calls = new Map()
  // What the user typed for a command whose text comes from a file, by session.
  const commands = new Map()

  // Returns the session of the user that a session belongs to; `undefined` if that cannot be found out.
  const rootOf = async (session) => {
    let current = session
    for (let depth = 0; depth < 10; depth += 1) {
      if (!parents.has(current)) {
        const id = current
        const found = await askOpencode(() => client.session.get({ path: { id } }))
        if (found?.id !== id) return undefined
        remember(parents, id, found.parentID ?? null)
      }
      const parent = parents.get(current)
      if (parent === null) return current
      current = parent
    }
    return undefined
  }

  const sessionOf = async (sessionID) => ({ sessionID, rootID: await rootOf(sessionID), directory, worktree })

  // The name of an MCP server's tool does not say where the name of the server ends.
  const serversFor = async (tool) => {
    if (!tool.includes("_")) return undefined
    const servers = await askOpencode(() => client.mcp.status())
    return servers && typeof servers === "object" ? Object.keys(servers) : undefined
  }

  const show = (message) => {
    if (typeof message !== "string") return
    askOpencode(() => client.tui.showToast({ body: { message, variant: "warning" } }))
  }

  const reply = (request, answer) => {
    const isAllowed = answer.decision === "allow"
    const response = isAllowed ? "once" : "reject"
    return askOpencode(() =>
      // The typed road has no place for a reason.
      client._client?.post && !isAllowed
        ? client._client.post({
            url: "/permission/{requestID}/reply",
            path: { requestID: request.id },
            body: { reply: response, message: answer.reason },
            headers: { "Content-Type": "application/json" },
          })
        : client.postSessionIdPermissionsPermissionId({
            path: { id: request.sessionID, permissionID: request.id },
            body: { response },
          }),
    )
  }

  // Answers what opencode is about to ask its user, if it is about a call that was let through. Anything else, such as
  // whether an agent that repeats itself may go on, stays the user's question.
  const answerRequest = async (request) => {
    const call = calls.get(request.tool?.callID)
    if (!call || call.sessionID !== request.sessionID || request.permission === "doom_loop") return
    // What a command became since then counts.
    const command = request.metadata?.command
    const args = typeof command === "string" ? { ...call.args, command } : call.args
    // What it was given to run was judged already.
    if (call.fenced !== undefined && args.command === call.fenced) return reply(request, { decision: "allow" })
    const answer = await judge({
      event: "permission.asked",
      ...(await sessionOf(request.sessionID)),
      callID: request.tool.callID,
      tool: call.tool,
      servers: call.servers,
      args,
    })
    if (answer.decision === "allow" || answer.decision === "deny") await reply(request, answer)
  }

  const tellOfSession = async (type, sessionID) => {
    const session = await sessionOf(sessionID)
    // A subagent's session is a part of the user's.
    if (session.rootID === sessionID) await tell({ event: type, ...session })
  }

  return {
    "tool.execute.before": async (input, output) => {
      const { tool, sessionID, callID } = input
      const args = JSON.stringify(output.args)
      const servers = await serversFor(tool)
      const session = await sessionOf(sessionID)
      const answer = await judge({
        event: "tool.execute.before",
        ...session,
        callID,
        tool,
        servers,
        args: output.args,
      })
      show(answer.notice)
      if (answer.end_run === true) askOpencode(() => client.session.abort({ path: { id: sessionID } }))
      if (!["allow", "contained", "silence"].includes(answer.decision)) throw new Error(answer.reason)
      if (JSON.stringify(output.args) !== args) throw new Error(failure("the call was changed meanwhile").reason)
      const fenced = answer.decision === "contained" ? answer.args.command : undefined
      if (fenced !== undefined) output.args.command = fenced
      remember(calls, callID, { tool, sessionID, servers, fenced, args: JSON.parse(args) })
    },

    "tool.execute.after": async (input) => {
      const call = calls.get(input.callID)
      calls.delete(input.callID)
      // What was to run inside a fence is held against what did.
      if (!call || (!EDITING_TOOLS.has(call.tool) && call.fenced === undefined)) return
      await tell({
        event: "tool.execute.after",
        ...(await sessionOf(call.sessionID)),
        callID: input.callID,
        tool: call.tool,
        args: call.args,
      })
    },

    "command.execute.before": async (input) => {
      remember(commands, input.sessionID, `/${input.command} ${input.arguments ?? ""}`.trim())
    },

    "chat.message": async (input, output) => {
      const { sessionID } = input
      const command = commands.get(sessionID)
      commands.delete(sessionID)
      const session = await sessionOf(sessionID)
      // In a subagent's session the agent speaks, not the user.
      if (session.rootID !== sessionID) return
      const isTyped = (part) => part.type === "text" && !part.synthetic && !part.ignored
      const typed = output.parts.filter(isTyped).map((part) => part.text)
      const text = command ?? typed.join("\n")
      if (text) await tell({ event: "chat.message", ...session, text })
    },

    event: async ({ event }) => {
      const { type, properties } = event
      if (type === "permission.asked") return answerRequest(properties)
      if (type === "session.created" || type === "session.deleted") {
        const { id, parentID } = properties.info ?? {}
        if (typeof id !== "string") return
        remember(parents, id, parentID ?? null)
        return tellOfSession(type, id)
      }
      if (type === "session.compacted") return tellOfSession(type, properties.sessionID)
    },
  }
}
