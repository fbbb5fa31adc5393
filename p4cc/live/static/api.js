// Requests to the server of the run. A failure is an `ApiError` with cause, place and remedy.

class ApiError extends Error {
  constructor({ cause, place = null, remedy = null }, status = 0) {
    super(cause);
    Object.assign(this, { cause, place, remedy, status });
  }
}

export const NO_TOKEN = {
  cause: "this page's token is not valid any more",
  remedy: "open the address that the command printed last",
};

async function answer(request) {
  let response;
  try {
    response = await request;
  } catch {
    throw new ApiError({ cause: "the run's server does not answer", remedy: "check that its command still runs" });
  }
  if (response.status === 401 || response.status === 403) throw new ApiError(NO_TOKEN, response.status);
  let body = null;
  try {
    body = await response.json();
  } catch {
    throw new ApiError({ cause: `the server's answer (${response.status}) is not JSON`, place: response.url });
  }
  if (!response.ok) throw new ApiError({ cause: `the server refused (${response.status})`, ...body }, response.status);
  return body;
}

export const get = (path) => answer(fetch(path, { headers: { Accept: "application/json" } }));

export const post = (path, body) =>
  answer(fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
